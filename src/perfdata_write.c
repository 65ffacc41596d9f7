/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf.data writer: file mode (header, attrs, ids, data, features) and pipe mode (records only).
 *
 * Attrs are written as 128 bytes, the largest that perf 6.1 accepts. ids and attrs come before the data,
 * so that a recording whose writer was killed can be read; data.size is patched by da_writer_sync().
 * It does not know what the records say.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "da_perfdata.h"
#include "writer_features.h"

#define ATTR_BYTES   128
#define HEADER_BYTES 104
#define NR_FEATURES  256

struct feature {
	unsigned bit;
	uint8_t *body;
	size_t len;
};

struct da_writer {
	int fd;
	bool pipe, failed;
	char path[1024];
	pthread_mutex_t lock; /* appends, features, header patches */
	uint64_t attrs_off, attrs_size, data_off, pos;
	uint64_t synced; /* data.size last written into the header */
	struct da_writer_event *ev;
	size_t nr_ev;
	struct feature *feat;
	size_t nr_feat;
};

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

/* "PERFILE2" in a little-endian file; the reverse tells a reader that the file is big-endian. */
#define MAGIC 0x32454c4946524550ull

static void put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, 8);
}

static int write_all(struct da_writer *w, const void *buf, size_t len, int64_t at,
		     struct da_error *err)
{
	const uint8_t *p = buf;

	while (len) {
		ssize_t n = at < 0 ? write(w->fd, p, len) : pwrite(w->fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int sys = n ? errno : ENOSPC;

			w->failed = true;
			return da_fail(err, DA_EIO, sys, "cannot write '%s'", w->path);
		}
		p += n;
		len -= (size_t)n;
		if (at >= 0)
			at += n;
	}
	return 0;
}

static void build_header(const struct da_writer *w, uint64_t data_size, bool with_features,
			 uint8_t *h)
{
	memset(h, 0, HEADER_BYTES);
	put64(h, MAGIC);
	put64(h + 8, HEADER_BYTES);
	put64(h + 16, ATTR_BYTES + 16);
	put64(h + 24, w->attrs_off);
	put64(h + 32, w->attrs_size);
	put64(h + 40, w->data_off);
	put64(h + 48, data_size);
	if (!with_features)
		return;
	for (size_t i = 0; i < w->nr_feat; i++) {
		uint64_t word;
		uint8_t *at = h + 72 + w->feat[i].bit / 64 * 8;

		memcpy(&word, at, 8);
		word |= 1ull << (w->feat[i].bit % 64);
		memcpy(at, &word, 8);
	}
}

static size_t pad8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* HEADER_ATTR record: attr, then ids to the end. A record holds at most 65535 bytes, so more ids than
 * fit go to further records of the same attr: perf matches them by the attr they follow. */
static int pipe_attr(struct da_writer *w, const struct da_writer_event *e, struct da_error *err)
{
	size_t max = (65528 - 8 - ATTR_BYTES) / 8, nr = e->nr_ids < max ? e->nr_ids : max;
	size_t size = 8 + ATTR_BYTES + nr * 8, nlen = pad8(strlen(e->name) + 1);
	uint8_t *b = calloc(1, size + 24 + nlen);
	uint16_t sz = (uint16_t)size;
	int rc;

	if (!b)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	put32(b, DA_REC_HEADER_ATTR);
	memcpy(b + 6, &sz, 2);
	da_attr_build(&e->attr, ATTR_BYTES, b + 8);
	for (size_t i = 0; i < nr; i++)
		put64(b + 8 + ATTR_BYTES + 8 * i, e->ids[i]);
	rc = write_all(w, b, size, -1, err);
	if (!rc && nr) { /* EVENT_UPDATE kind 2: the event's name */
		memset(b, 0, size);
		put32(b, DA_REC_EVENT_UPDATE);
		sz = (uint16_t)(24 + nlen);
		memcpy(b + 6, &sz, 2);
		put64(b + 8, 2);
		put64(b + 16, e->ids[0]);
		memcpy(b + 24, e->name, strlen(e->name));
		rc = write_all(w, b, sz, -1, err);
	}
	free(b);
	return rc;
}

static int start_pipe(struct da_writer *w, struct da_error *err)
{
	uint8_t h[16];
	int rc;

	put64(h, MAGIC);
	put64(h + 8, sizeof(h));
	rc = write_all(w, h, sizeof(h), -1, err);
	for (size_t i = 0; !rc && i < w->nr_ev; i++)
		rc = pipe_attr(w, &w->ev[i], err);
	return rc;
}

static int start_file(struct da_writer *w, struct da_error *err)
{
	size_t ids = 0, len, at;
	uint8_t *b;
	int rc;

	for (size_t i = 0; i < w->nr_ev; i++)
		ids += w->ev[i].nr_ids;
	w->attrs_off = HEADER_BYTES + ids * 8;
	w->attrs_size = w->nr_ev * (ATTR_BYTES + 16);
	w->data_off = w->attrs_off + w->attrs_size;
	len = (size_t)w->data_off;
	b = calloc(1, len);
	if (!b)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	build_header(w, 0, false, b);
	at = HEADER_BYTES;
	for (size_t i = 0; i < w->nr_ev; i++) {
		uint8_t *entry = b + w->attrs_off + i * (ATTR_BYTES + 16);

		da_attr_build(&w->ev[i].attr, ATTR_BYTES, entry);
		put64(entry + ATTR_BYTES, at);
		put64(entry + ATTR_BYTES + 8, w->ev[i].nr_ids * 8);
		memcpy(b + at, w->ev[i].ids, w->ev[i].nr_ids * 8);
		at += w->ev[i].nr_ids * 8;
	}
	rc = write_all(w, b, len, -1, err);
	w->pos = len;
	free(b);
	return rc;
}

static int copy_events(struct da_writer *w, const struct da_writer_event *ev, size_t nr)
{
	w->ev = calloc(nr ? nr : 1, sizeof(*w->ev));
	if (!w->ev)
		return -DA_ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct da_writer_event *e = &w->ev[i];
		uint64_t *ids = malloc(ev[i].nr_ids ? ev[i].nr_ids * 8 : 8);

		e->attr = ev[i].attr;
		e->name = strdup(ev[i].name);
		if (ids)
			memcpy(ids, ev[i].ids, ev[i].nr_ids * 8);
		e->ids = ids;
		e->nr_ids = ids ? ev[i].nr_ids : 0;
		w->nr_ev = i + 1;
		if (!e->name || !ids)
			return -DA_ENOMEM;
	}
	return 0;
}

static int open_file(struct da_writer *w, const char *path, struct da_error *err)
{
	struct stat st;

	if (!lstat(path, &st)) {
		char old[sizeof(w->path) + 4];

		if (S_ISDIR(st.st_mode))
			return da_fail(err, DA_EIO, EISDIR, "cannot write '%s'", path);
		if (S_ISREG(st.st_mode) && st.st_size) {
			snprintf(old, sizeof(old), "%s.old", path);
			if (rename(path, old))
				return da_fail(err, DA_EIO, errno, "cannot rename '%s' to '%s'",
					       path, old);
		}
	}
	w->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return da_fail(err, DA_EIO, errno, "cannot create '%s'", path);
	if (!fstat(w->fd, &st) && !S_ISREG(st.st_mode))
		w->pipe = true; /* a FIFO, /dev/null, a tty: nothing can be patched there */
	return 0;
}

int da_writer_open(struct da_writer **out, const char *path, const struct da_writer_event *ev,
		   size_t nr, struct da_error *err)
{
	struct da_writer *w = calloc(1, sizeof(*w));
	int rc;

	*out = NULL;
	if (!w)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	if (snprintf(w->path, sizeof(w->path), "%s",
		     strcmp(path, "-") ? path : "standard output") >= (int)sizeof(w->path)) {
		da_writer_abort(w);
		return da_fail(err, DA_EIO, ENAMETOOLONG, "cannot create '%.64s...'", path);
	}
	rc = copy_events(w, ev, nr);
	if (rc) {
		da_writer_abort(w);
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	}
	if (!strcmp(path, "-")) {
		w->pipe = true;
		w->fd = dup(STDOUT_FILENO);
		rc = w->fd < 0 ? da_fail(err, DA_EIO, errno, "cannot use standard output") : 0;
	} else {
		rc = open_file(w, path, err);
	}
	if (!rc)
		rc = w->pipe ? start_pipe(w, err) : start_file(w, err);
	if (rc) {
		da_writer_abort(w);
		return rc;
	}
	*out = w;
	return 0;
}

bool da_writer_is_pipe(const struct da_writer *w)
{
	return w->pipe;
}

int da_writer_append(struct da_writer *w, const void *bytes, size_t len, uint64_t *offset,
		     struct da_error *err)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	if (offset)
		*offset = w->pos;
	/* after a failed write the file may end inside a record; more would be read as garbage */
	rc = w->failed ? da_fail(err, DA_EIO, 0, "an earlier write to '%s' failed", w->path)
		       : write_all(w, bytes, len, -1, err);
	if (!rc)
		w->pos += len;
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int da_writer_read_back(struct da_writer *w, uint64_t offset, void *buf, size_t len,
			struct da_error *err)
{
	uint8_t *p = buf;

	if (w->pipe)
		return da_fail(err, DA_EUNSUPPORTED, 0, "'%s' cannot be read back", w->path);
	while (len) {
		ssize_t n = pread(w->fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return da_fail(err, DA_EIO, n ? errno : 0,
				       "cannot read back '%s' at 0x%llx", w->path,
				       (unsigned long long)offset);
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int da_writer_sync(struct da_writer *w, struct da_error *err)
{
	uint8_t size[8];
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	if (!w->pipe && !w->failed && w->synced != w->pos - w->data_off) {
		put64(size, w->pos - w->data_off);
		rc = write_all(w, size, 8, 48, err);
		if (!rc)
			w->synced = w->pos - w->data_off;
	}
	pthread_mutex_unlock(&w->lock);
	return rc;
}

/* HEADER_FEATURE: u64 bit, then the section as it stands in a file. One that does not fit into a record
 * is left out: it is only a description. */
static int pipe_feature(struct da_writer *w, unsigned bit, const void *body, size_t len,
			struct da_error *err)
{
	size_t size = 16 + pad8(len);
	uint16_t sz = (uint16_t)size;
	uint8_t *b;
	int rc;

	if (size > 65528)
		return 0;
	b = calloc(1, size);
	if (!b)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	put32(b, DA_REC_HEADER_FEATURE);
	memcpy(b + 6, &sz, 2);
	put64(b + 8, bit);
	memcpy(b + 16, body, len);
	rc = write_all(w, b, size, -1, err);
	free(b);
	return rc;
}

/* TRACING_DATA has a record of its own, and its bytes follow the record: u32 their size, u32 0. */
static int pipe_tracing_data(struct da_writer *w, const void *body, size_t len,
			     struct da_error *err)
{
	uint8_t *b = calloc(1, 16 + pad8(len));
	uint16_t sz = 16;
	int rc;

	if (!b)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	put32(b, DA_REC_TRACING_DATA);
	memcpy(b + 6, &sz, 2);
	put32(b + 8, (uint32_t)pad8(len));
	memcpy(b + 16, body, len);
	rc = write_all(w, b, 16 + pad8(len), -1, err);
	free(b);
	return rc;
}

int da_writer_feature(struct da_writer *w, unsigned bit, const void *body, size_t len,
		      struct da_error *err)
{
	struct feature *grown;
	uint8_t *copy;
	int rc = 0;

	if (bit >= NR_FEATURES)
		return da_fail(err, DA_EBUG, 0, "feature bit %u does not exist", bit);
	pthread_mutex_lock(&w->lock);
	if (w->pipe) {
		rc = bit == DA_FEAT_TRACING_DATA ? pipe_tracing_data(w, body, len, err)
						 : pipe_feature(w, bit, body, len, err);
		goto unlock;
	}
	grown = realloc(w->feat, (w->nr_feat + 1) * sizeof(*grown));
	copy = malloc(len ? len : 1);
	if (grown)
		w->feat = grown;
	if (!grown || !copy) {
		free(copy);
		rc = da_fail(err, DA_ENOMEM, 0, "out of memory");
		goto unlock;
	}
	memcpy(copy, body, len);
	w->feat[w->nr_feat++] = (struct feature){.bit = bit, .body = copy, .len = len};
unlock:
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int da_writer_std_features(struct da_writer *w, int argc, char *const *argv, int clockid,
			   struct da_error *err)
{
	struct writer_features f = {.argc = argc,
				    .argv = argv,
				    .clockid = clockid,
				    .ev = w->ev,
				    .nr_ev = w->nr_ev,
				    .attr_bytes = ATTR_BYTES,
				    .pipe = w->pipe};

	return writer_features_add(w, &f, err);
}

static int by_bit(const void *a, const void *b)
{
	const struct feature *x = a, *y = b;

	return x->bit < y->bit ? -1 : x->bit > y->bit;
}

/* After the data: one {offset, size} for each feature in ascending bit order, then the bodies. The header
 * is written last: until then the file reads as unfinalised but whole. */
static int finish_file(struct da_writer *w, struct da_error *err)
{
	size_t table = w->nr_feat * 16, len = table, at = table;
	uint8_t h[HEADER_BYTES], *b;
	int rc;

	if (w->nr_feat) /* NULL is no array for qsort */
		qsort(w->feat, w->nr_feat, sizeof(*w->feat), by_bit);
	for (size_t i = 0; i < w->nr_feat; i++)
		len += pad8(w->feat[i].len);
	b = calloc(1, len ? len : 1);
	if (!b)
		return da_fail(err, DA_ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < w->nr_feat; i++) {
		put64(b + i * 16, w->pos + at);
		put64(b + i * 16 + 8, w->feat[i].len);
		memcpy(b + at, w->feat[i].body, w->feat[i].len);
		at += pad8(w->feat[i].len);
	}
	rc = write_all(w, b, len, -1, err);
	free(b);
	if (rc)
		return rc;
	build_header(w, w->pos - w->data_off, true, h);
	return write_all(w, h, sizeof(h), 0, err);
}

static void drop_features(struct da_writer *w)
{
	for (size_t i = 0; i < w->nr_feat; i++)
		free(w->feat[i].body);
	w->nr_feat = 0;
}

/* Under the lock. */
static int switch_file(struct da_writer *w, const char *kept, struct da_error *err)
{
	int rc = finish_file(w, err);

	if (rc)
		return rc;
	if (close(w->fd))
		rc = da_fail(err, DA_EIO, errno, "cannot close '%s'", w->path);
	w->fd = -1;
	if (!rc && rename(w->path, kept))
		rc = da_fail(err, DA_EIO, errno, "cannot rename '%s' to '%s'", w->path, kept);
	drop_features(w);
	w->pos = w->synced = 0;
	if (!rc)
		rc = open_file(w, w->path, err);
	if (!rc && w->pipe)
		rc = da_fail(err, DA_EIO, 0, "'%s' is no regular file any more", w->path);
	return rc ? rc : start_file(w, err);
}

int da_writer_switch(struct da_writer *w, const char *kept, struct da_error *err)
{
	int rc;

	if (w->pipe)
		return da_fail(err, DA_EUNSUPPORTED, 0, "'%s' is no file: it cannot be switched",
			       w->path);
	pthread_mutex_lock(&w->lock);
	rc = w->failed ? da_fail(err, DA_EIO, 0, "an earlier write to '%s' failed", w->path)
		       : switch_file(w, kept, err);
	if (rc)
		w->failed = true; /* there may be no file to append to */
	pthread_mutex_unlock(&w->lock);
	return rc;
}

uint64_t da_writer_size(struct da_writer *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = w->pos;
	pthread_mutex_unlock(&w->lock);
	return n;
}

static void release(struct da_writer *w)
{
	drop_features(w);
	for (size_t i = 0; i < w->nr_ev; i++) {
		free((char *)(uintptr_t)w->ev[i].name);
		free((uint64_t *)(uintptr_t)w->ev[i].ids);
	}
	free(w->feat);
	free(w->ev);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int da_writer_close(struct da_writer *w, struct da_error *err)
{
	int rc = 0;

	if (w->failed)
		rc = da_fail(err, DA_EIO, 0, "an earlier write to '%s' failed", w->path);
	else if (!w->pipe)
		rc = finish_file(w, err);
	if (close(w->fd) && !rc)
		rc = da_fail(err, DA_EIO, errno, "cannot close '%s'", w->path);
	w->fd = -1;
	release(w);
	return rc;
}

void da_writer_abort(struct da_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	release(w);
}
