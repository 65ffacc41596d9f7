/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes of one input file: whole reads, and a window that slides over it.
 *
 * Nothing is mapped, so a file that shrinks while it is read is an error with a message and never a
 * SIGBUS. What cannot be read twice (a pipe, a FIFO, a socket) is first copied to an unlinked temporary
 * file: memory stays bounded, and sections may be read in any order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata_priv.h"

#define SPOOL_BLOCK (256u << 10)
#define WINDOW_MIN  4096u

/* ---- spooling ---- */

static int temporary_file(const char **dir)
{
	char path[4096];
	int fd;

	*dir = getenv("TMPDIR");
	if (!*dir || !**dir)
		*dir = "/tmp";
	fd = open(*dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Not every file system knows O_TMPFILE. */
	if (snprintf(path, sizeof(path), "%s/damon-attrs-XXXXXX", *dir) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int write_whole(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* At most n bytes, fewer only at the end; -1: errno. */
static ssize_t read_whole(int fd, uint8_t *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t done = read(fd, p + got, n - got);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		if (!done)
			break;
		got += (size_t)done;
	}
	return (ssize_t)got;
}

/* Could these first bytes begin a recording? An endless stream of something else must not fill the disk. */
static bool magic_possible(const uint8_t *p, size_t n)
{
	static const char *const magics[] = {"PERFILE2", "2ELIFREP", "PERFFILE"};

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (!memcmp(p, magics[i], n < 8 ? n : 8))
			return true;
	}
	return false;
}

/* Replaces in->fd by a temporary file with all of its bytes; any: whatever they are. */
static int spool(struct input *in, bool any, struct da_error *err)
{
	uint8_t *block = malloc(SPOOL_BLOCK);
	const char *dir;
	int out = -1, ret;

	if (!block)
		return da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", in->name);
	out = temporary_file(&dir);
	if (out < 0) {
		ret = da_fail(err, DA_EIO, errno, "cannot read '%s': no temporary file in '%s'",
			      in->name, dir);
		goto free_block;
	}
	for (bool first = true;; first = false) {
		ssize_t n = read_whole(in->fd, block, first ? 8 : SPOOL_BLOCK);

		if (n < 0) {
			ret = da_fail(err, DA_EIO, errno, "cannot read '%s'", in->name);
			goto close_out;
		}
		if (!n)
			break;
		if (write_whole(out, block, (size_t)n) < 0) {
			ret = da_fail(err, DA_EIO, errno,
				      "cannot copy '%s' to a temporary file in '%s'", in->name,
				      dir);
			goto close_out;
		}
		in->size += (uint64_t)n;
		if (first && !any && !magic_possible(block, (size_t)n))
			break;
	}
	close(in->fd);
	in->fd = out;
	free(block);
	return 0;

close_out:
	close(out);
free_block:
	free(block);
	return ret;
}

/* ---- the file ---- */

static int open_fd(const char *path, struct da_error *err)
{
	int fd;

	if (!strcmp(path, "-")) {
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return da_fail(err, DA_EIO, errno, "cannot read standard input");
		return fd;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return da_fail(err, errno == ENOENT ? DA_ENOENT : DA_EIO, errno, "cannot open '%s'",
			       path);
	return fd;
}

int input_open(struct input *in, const char *path, bool any, struct da_error *err)
{
	bool std = !strcmp(path, "-");
	struct stat st;
	int ret;

	memset(in, 0, sizeof(*in));
	in->fd = open_fd(path, err);
	if (in->fd < 0) {
		ret = in->fd;
		in->fd = -1;
		return ret;
	}
	in->name = strdup(std ? "standard input" : path);
	if (!in->name) {
		ret = da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", path);
		goto close_input;
	}
	if (fstat(in->fd, &st) < 0) {
		ret = da_fail(err, DA_EIO, errno, "cannot read '%s'", in->name);
		goto close_input;
	}
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
	    (S_ISREG(st.st_mode) && std && lseek(in->fd, 0, SEEK_CUR) > 0)) {
		ret = spool(in, any, err);
		if (ret < 0)
			goto close_input;
		return 0;
	}
	if (!S_ISREG(st.st_mode)) {
		ret = da_fail(err, DA_EFORMAT, 0, "cannot read '%s': %s is no recording", in->name,
			      S_ISDIR(st.st_mode) ? "a directory"
			      : isatty(in->fd)    ? "a terminal"
						  : "a device");
		goto close_input;
	}
	in->size = (uint64_t)st.st_size;
	/* Only advice: twice the read-ahead. */
	(void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;

close_input:
	input_close(in);
	return ret;
}

void input_close(struct input *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	free(in->name);
	in->name = NULL;
}

/* At most n bytes, fewer only where the file ends now; -1: *err says why. */
static ssize_t read_at(const struct input *in, uint64_t off, uint8_t *buf, size_t n,
		       struct da_error *err)
{
	size_t got = 0;

	while (got < n) {
		ssize_t done = pread(in->fd, buf + got, n - got, (off_t)(off + got));

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			da_fail(err, DA_EIO, errno, "cannot read '%s' at offset 0x%llx", in->name,
				(unsigned long long)(off + got));
			return -1;
		}
		if (!done)
			break;
		got += (size_t)done;
	}
	return (ssize_t)got;
}

static int shrunk(const struct input *in, uint64_t at, struct da_error *err)
{
	return da_fail(
		err, DA_EIO, 0,
		"cannot read '%s' at offset 0x%llx: the file has become shorter while it was read",
		in->name, (unsigned long long)at);
}

int input_read(const struct input *in, uint64_t off, void *buf, size_t n, struct da_error *err)
{
	ssize_t got = read_at(in, off, buf, n, err);

	if (got < 0)
		return -DA_EIO;
	if ((size_t)got < n)
		return shrunk(in, off + (uint64_t)got, err);
	return 0;
}

/* ---- the window ---- */

void window_init(struct window *w, const struct input *in, size_t want, struct blocks *blocks)
{
	*w = (struct window){.in = in, .want = want, .blocks = blocks, .block = NO_BLOCK};
}

void window_release(struct window *w)
{
	if (!w->blocks)
		free(w->buf);
	else if (w->block != NO_BLOCK)
		blocks_unpin(w->blocks, w->block);
	*w = (struct window){.block = NO_BLOCK};
}

/* Its own memory, for n bytes at least. Few records are long: with many inputs the windows stay small until
 * one is. */
static bool own_room(struct window *w, size_t n)
{
	size_t cap = w->cap;

	if (!cap) {
		cap = w->in->size < w->want ? (size_t)w->in->size : w->want;
		if (cap < WINDOW_MIN)
			cap = WINDOW_MIN;
	}
	while (cap < n)
		cap *= 2;
	if (cap == w->cap)
		return true;
	free(w->buf);
	w->cap = 0;
	w->buf = malloc(cap);
	if (!w->buf)
		return false;
	w->cap = cap;
	return true;
}

/* A block in which no record waits. */
static bool block_room(struct window *w)
{
	int next;

	if (w->block != NO_BLOCK && !w->blocks->b[w->block].waiting && !w->blocks->b[w->block].lent)
		return true;
	next = blocks_take(w->blocks);
	if (next == NO_BLOCK)
		return false;
	if (w->block != NO_BLOCK)
		blocks_unpin(w->blocks, w->block);
	w->block = next;
	w->buf = w->blocks->b[next].p;
	w->cap = BLOCK_BYTES;
	return true;
}

const uint8_t *window_slide(struct window *w, uint64_t off, size_t n, struct da_error *err)
{
	uint64_t left;
	ssize_t got;

	if (off > w->in->size || n > w->in->size - off || n > REC_MAX) {
		da_fail(err, DA_EBUG, 0, "read of '%s' at offset 0x%llx beyond its end",
			w->in->name, (unsigned long long)off);
		return NULL;
	}
	w->len = 0;
	if (!(w->blocks ? block_room(w) : own_room(w, n))) {
		da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", w->in->name);
		return NULL;
	}
	left = w->in->size - off;
	w->off = off;
	got = read_at(w->in, off, w->buf, left < w->cap ? (size_t)left : w->cap, err);
	if (got < 0)
		return NULL;
	if ((size_t)got < n) {
		shrunk(w->in, off + (uint64_t)got, err);
		return NULL;
	}
	w->len = (size_t)got;
	if (w->blocks)
		w->blocks->b[w->block].off = off;
	return w->buf;
}
