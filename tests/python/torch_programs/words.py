"""A language model of words: an LSTM over a text of counted words, truncated backward passes, gradients held back."""

import math
import time

import torch
import torch.nn as nn

torch.manual_seed(1)
device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")


class Dictionary:
    def __init__(self):
        self.word2idx, self.idx2word = {}, []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]


dictionary = Dictionary()
text = "the cat sat on the mat and the dog sat on the cat <eos> " * 40
ids = torch.cat([torch.tensor([dictionary.add_word(w)]).type(torch.int64) for w in text.split()])
ntokens = len(dictionary.idx2word)


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous().to(device)


class RNNModel(nn.Module):
    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers, dropout=0.2, tie_weights=True):
        super().__init__()
        self.ntoken, self.nhid, self.nlayers, self.rnn_type = ntoken, nhid, nlayers, rnn_type
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(input)), hidden)
        decoded = self.decoder(self.drop(output)).view(-1, self.ntoken)
        return nn.functional.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid))


def repackage_hidden(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


bptt, data = 7, batchify(ids, 8)
model = RNNModel("LSTM", ntokens, 16, 16, 1).to(device)
criterion = nn.NLLLoss()
lr, losses = 5.0, []
for epoch in range(1, 4):
    model.train()
    start, total, hidden = time.time(), 0.0, model.init_hidden(8)
    for batch, i in enumerate(range(0, data.size(0) - 1, bptt)):  # noqa: B007
        seq_len = min(bptt, len(data) - 1 - i)
        inputs, targets = data[i : i + seq_len], data[i + 1 : i + 1 + seq_len].view(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(inputs, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total += loss.item()
    losses.append(total / (batch + 1))
    print(f"| epoch {epoch} | {time.time() - start:5.2f}s | loss {losses[-1]:5.2f} | ppl {math.exp(losses[-1]):8.2f}")
assert losses[-1] < losses[0]

model.eval()
hidden, word = model.init_hidden(1), torch.randint(ntokens, (1, 1), dtype=torch.long).to(device)
with torch.no_grad():
    for _ in range(5):
        output, hidden = model(word, hidden)
        word_idx = torch.multinomial(output.squeeze().exp().cpu(), 1)[0]
        word.fill_(word_idx)
        print(dictionary.idx2word[word_idx], end=" ")
print("\ndone")
