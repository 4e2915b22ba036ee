/* heat.c - the heat equation on a plate with hot spots and cold edges; writes a PNG.
 *
 * Each step adds to every inner point the difference between its four neighbours and itself: slices
 * of one array, written in place.
 *
 * Usage: heat [file.png [size [steps]]]
 */
#include <treadle.h>

#include <stdio.h>
#include <stdlib.h>

static void
must(treadle_status st, const char *what)
{
    if (st) {
        fprintf(stderr, "%s: %s: %s\n", what, treadle_status_name(st), treadle_error());
        exit(1);
    }
}

/* ---- the plate ---- */

/* a[top : bottom, left : right] */
static treadle_array *
cut(const treadle_array *a, int64_t top, int64_t bottom, int64_t left, int64_t right)
{
    treadle_array *rows, *r;

    must(treadle_slice(a, 0, top, bottom, 1, &rows), "rows");
    must(treadle_slice(rows, 1, left, right, 1, &r), "columns");
    treadle_array_unref(rows);
    return r;
}

/* op(x, y); gives x up. */
static treadle_array *
with(treadle_op op, treadle_array *x, treadle_operand y)
{
    treadle_array *r;

    must(treadle_binary(op, treadle_a(x), y, &r), treadle_op_name(op));
    treadle_array_unref(x);
    return r;
}

static void
step(const treadle_array *plate, treadle_array *inner)
{
    treadle_array *around = cut(plate, 0, -2, 1, -1);
    treadle_array *side[3] = {cut(plate, 2, TREADLE_END, 1, -1), cut(plate, 1, -1, 0, -2),
                              cut(plate, 1, -1, 2, TREADLE_END)};
    treadle_array *still;
    treadle_operand change[2];

    for (int i = 0; i < 3; i++) {
        around = with(TREADLE_OP_add, around, treadle_a(side[i]));
        treadle_array_unref(side[i]);
    }
    must(treadle_binary(TREADLE_OP_multiply, treadle_a(inner), treadle_f(4), &still), "still");
    around = with(TREADLE_OP_subtract, around, treadle_a(still));
    around = with(TREADLE_OP_multiply, around, treadle_f(0.24)); /* above 1/4 the scheme explodes */
    change[0] = treadle_a(inner);
    change[1] = treadle_a(around);
    must(treadle_apply_into(TREADLE_OP_add, 2, change, inner), "inner +=");
    treadle_array_unref(still);
    treadle_array_unref(around);
}

/* Three hot squares on a cold plate. */
static treadle_array *
new_plate(int64_t n)
{
    static const int at[3][3] = {
        {20, 20, 15}, {60, 30, 25}, {35, 70, 20}}; /* per cent: row, column, size */
    const int64_t dims[2] = {n, n};
    treadle_array *plate, *spot;

    must(treadle_full(NULL, TREADLE_FLOAT32, 2, dims, treadle_f(0), &plate), "plate");
    for (int i = 0; i < 3; i++) {
        int64_t y = n * at[i][0] / 100, x = n * at[i][1] / 100, size = n * at[i][2] / 100;

        spot = cut(plate, y, y + size, x, x + size);
        must(treadle_assign(spot, treadle_f(1)), "spot");
        treadle_array_unref(spot);
    }
    return plate;
}

/* ---- the picture: 8-bit grey, zlib blocks stored as they are ---- */

typedef struct png {
    FILE *f;
    uint32_t crc;    /* of the chunk, so far */
    uint32_t s1, s2; /* Adler-32 of the picture, so far */
} png;

static void
put(png *p, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;

    for (size_t i = 0; i < n; i++) {
        p->crc ^= b[i];
        for (int k = 0; k < 8; k++)
            p->crc = p->crc >> 1 ^ (p->crc & 1 ? 0xedb88320u : 0);
    }
    fwrite(b, 1, n, p->f);
}

static void
put32(png *p, uint32_t v)
{
    const unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                                (unsigned char)(v >> 8), (unsigned char)v};

    put(p, b, 4);
}

static void
chunk_begin(png *p, const char *type, uint32_t nbytes)
{
    put32(p, nbytes);
    p->crc = 0xffffffffu;
    put(p, type, 4);
}

static void
chunk_end(png *p)
{
    put32(p, ~p->crc);
}

/* One row: its filter byte (none) and its pixels, in a stored block of its own. */
static void
put_row(png *p, const unsigned char *row, uint32_t width, int last)
{
    uint32_t n = width + 1;
    const unsigned char head[6] = {(unsigned char)last,      (unsigned char)n,
                                   (unsigned char)(n >> 8),  (unsigned char)~n,
                                   (unsigned char)(~n >> 8), 0};

    put(p, head, 6);
    put(p, row, width);
    p->s2 = (p->s2 + p->s1) % 65521; /* the filter byte is 0 */
    for (uint32_t i = 0; i < width; i++) {
        p->s1 = (p->s1 + row[i]) % 65521;
        p->s2 = (p->s2 + p->s1) % 65521;
    }
}

/* 0, or -1 when the file cannot be written.  width < 65535. */
static int
write_png(const char *path, const unsigned char *pixel, uint32_t width, uint32_t height)
{
    png p = {.f = fopen(path, "wb"), .s1 = 1};
    int bad;

    if (!p.f)
        return -1;
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, p.f);
    chunk_begin(&p, "IHDR", 13);
    put32(&p, width);
    put32(&p, height);
    put(&p, "\x08\0\0\0", 5); /* 8 bits, grey; the usual compression, filter and order */
    chunk_end(&p);
    chunk_begin(&p, "IDAT", 2 + height * (width + 6) + 4);
    put(&p, "\x78\x01", 2);
    for (uint32_t y = 0; y < height; y++)
        put_row(&p, pixel + (size_t)y * width, width, y + 1 == height);
    put32(&p, p.s2 << 16 | p.s1);
    chunk_end(&p);
    chunk_begin(&p, "IEND", 0);
    chunk_end(&p);
    bad = ferror(p.f);
    return fclose(p.f) || bad ? -1 : 0;
}

/* White where it is cold, black where it is hot. */
static int
draw(const treadle_array *plate, const char *path)
{
    treadle_array *bright, *grey;
    size_t nbytes;
    unsigned char *pixel;
    int bad;

    must(treadle_binary(TREADLE_OP_multiply, treadle_a(plate), treadle_f(-255), &bright),
         "brightness");
    bright = with(TREADLE_OP_add, bright, treadle_f(255));
    must(treadle_cast(bright, TREADLE_UINT8, &grey), "grey");
    nbytes = treadle_array_nbytes(grey);
    pixel = malloc(nbytes);
    if (!pixel)
        must(TREADLE_ERR_NOMEM, "pixels");
    must(treadle_array_get(grey, pixel, nbytes), "get");
    bad = write_png(path, pixel, (uint32_t)treadle_array_dim(grey, 1),
                    (uint32_t)treadle_array_dim(grey, 0));
    free(pixel);
    treadle_array_unref(bright);
    treadle_array_unref(grey);
    return bad;
}

int
main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "heat.png";
    int64_t n = argc > 2 ? atoll(argv[2]) : 512;
    int steps = argc > 3 ? atoi(argv[3]) : 1000;
    treadle_array *plate = new_plate(n), *inner = cut(plate, 1, -1, 1, -1), *heat;
    double before, after;
    int bad;

    must(treadle_reduce(TREADLE_RED_sum, plate, NULL, &heat), "sum");
    must(treadle_array_item(heat, &before), "sum");
    treadle_array_unref(heat);
    for (int i = 0; i < steps; i++)
        step(plate, inner);
    must(treadle_reduce(TREADLE_RED_sum, plate, NULL, &heat), "sum");
    must(treadle_array_item(heat, &after), "sum");
    treadle_array_unref(heat);

    bad = draw(plate, path);
    if (bad)
        perror(path);
    else
        printf("%s: heat %.6g before, %.6g after %d steps\n", path, before, after, steps);
    treadle_array_unref(inner);
    treadle_array_unref(plate);
    return bad || !(after > 0 && after <= before * 1.0001);
}
