/* The search runs in a Worker, which browsers refuse to pages of the file system: there a hidden frame takes its place.
 * MkDocs-Material asks for the name IFrameWorker. */
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    this.started = new Promise((done) => {
      frame.addEventListener("load", () => {
        const inside = frame.contentWindow;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inside.importScripts = (...urls) => Promise.all(urls.map((u) => this.script(inside, u)));
        done(this.script(inside, new URL(url, location.href).href).then(() => inside));
      }, { once: true });
    });
    frame.srcdoc = "<!doctype html><title>search</title>";
    document.documentElement.appendChild(frame);
  }

  script(inside, url) {
    return new Promise((done, failed) => {
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = done;
      script.onerror = () => failed(new Error(`${url} cannot be loaded`));
      inside.document.body.appendChild(script);
    });
  }

  postMessage(data) {
    this.started.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
  }

  terminate() {}
}

if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
