/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a fuzz target over files, with any compiler: fuzz targets are ordinary tests.
 *
 *   fuzz_X_replay [FILE | FOLDER]...
 *
 * Each file is tried as it is and then damaged: cut short, with bits flipped, bytes overwritten, parts
 * repeated. The same follows for a few inputs made here, so it is a test without any file too. Every run is
 * the same: nothing depends on the clock. Each input lies in a heap block of exactly its size, so that
 * sanitizers see every read past its end. It looks for no new paths: that is libFuzzer's work.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

/* One damaged copy costs about its length: large inputs get fewer of each kind. */
#define BYTES_PER_KIND (4u << 20)
#define MAX_PER_KIND   1024u
#define MIN_PER_KIND   16u
#define MAX_FILE       (64u << 20)

static uint64_t inputs;
static uint64_t rng = 0x9e3779b97f4a7c15u;

/* What is running, for the message that a crash leaves. */
static char what[512];

static uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static void say_what(void)
{
	ssize_t n = write(STDERR_FILENO, what, strlen(what));

	n += write(STDERR_FILENO, "\n", 1);
	(void)n;
}

static void on_signal(int sig)
{
	say_what();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

static void run(const uint8_t *data, size_t len, const char *name, const char *how, size_t at)
{
	uint8_t *copy = must(malloc(len ? len : 1));
	uint8_t *exact = copy;

	/* malloc(0) may share its block's slack; one byte, with the input after its end, does not. */
	if (len == 0)
		exact = copy + 1;
	else
		memcpy(exact, data, len);
	snprintf(what, sizeof(what), "replay: input '%.300s', %s %zu, %zu bytes", name, how, at,
		 len);
	LLVMFuzzerTestOneInput(exact, len);
	free(copy);
	inputs++;
}

/* How many damaged copies of one kind, for an input of that length. */
static size_t per_kind(size_t len)
{
	size_t n = BYTES_PER_KIND / (len + 1);

	if (n > 16 * len)
		n = 16 * len;
	return n > MAX_PER_KIND ? MAX_PER_KIND : n < MIN_PER_KIND ? MIN_PER_KIND : n;
}

/* The i-th of n positions in len: the first half of them at the front, the rest spread over all. */
static size_t position(size_t i, size_t n, size_t len)
{
	if (len <= n)
		return i % len;
	return i < n / 2 ? i : (size_t)((__uint128_t)(i - n / 2) * len / (n - n / 2));
}

static void run_damaged(const uint8_t *data, size_t len, const char *name)
{
	static const uint8_t bytes[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
	size_t n = per_kind(len);
	uint8_t *buf;

	run(data, len, name, "whole", 0);
	if (len == 0)
		return;
	for (size_t i = 0; i < (n < len ? n : len); i++)
		run(data, position(i, n, len), name, "cut at", position(i, n, len));

	buf = must(malloc(2 * len));
	memcpy(buf, data, len);
	for (size_t i = 0; i < n; i++) {
		size_t at = position(i, n, len);

		buf[at] ^= (uint8_t)(1u << (next_random() & 7));
		run(buf, len, name, "bit flipped at", at);
		buf[at] = bytes[next_random() % sizeof(bytes)];
		run(buf, len, name, "byte set at", at);
		buf[at] = data[at];
	}
	for (size_t i = 0; i < n / 4; i++) {
		size_t last = 0;

		for (unsigned int k = 0; k < 2 + i % 6; k++) {
			last = next_random() % len;
			buf[last] = (uint8_t)next_random();
		}
		run(buf, len, name, "bytes set, last at", last);
		memcpy(buf, data, len);
	}
	for (size_t i = 0; i < n / 4; i++) {
		size_t from = next_random() % len, size = 1 + next_random() % (len - from);

		/* [from, from + size) twice */
		memcpy(buf + from + size, data + from, len - from);
		run(buf, len + size, name, "part repeated at", from);
		memcpy(buf, data, len);
	}
	free(buf);
}

static void run_made(void)
{
	static uint8_t buf[4096];
	char name[64];

	run(buf, 0, "made: empty", "whole", 0);
	for (unsigned int kind = 0; kind < 4; kind++) {
		for (size_t len = 1; len <= sizeof(buf); len *= 2) {
			for (size_t i = 0; i < len; i++)
				buf[i] = kind == 0   ? 0
					 : kind == 1 ? 0xff
					 : kind == 2 ? (uint8_t)i
						     : (uint8_t)next_random();
			snprintf(name, sizeof(name), "made: kind %u, length %zu", kind, len);
			run_damaged(buf, len, name);
		}
	}
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	struct stat st;

	if (!f || fstat(fileno(f), &st) < 0 || st.st_size > MAX_FILE) {
		fprintf(stderr, "cannot read '%s': %s\n", path,
			f && st.st_size > MAX_FILE ? "too large" : strerror(errno));
		exit(1);
	}
	data = must(malloc(st.st_size ? (size_t)st.st_size : 1));
	if (fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		fprintf(stderr, "cannot read '%s'\n", path);
		exit(1);
	}
	fclose(f);
	run_damaged(data, (size_t)st.st_size, path);
	free(data);
}

static void run_path(const char *path)
{
	struct dirent **entries;
	struct stat st;
	int n;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
		run_file(path);
		return;
	}
	n = scandir(path, &entries, NULL, alphasort);
	if (n < 0) {
		fprintf(stderr, "cannot read '%s': %s\n", path, strerror(errno));
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		char *child;

		if (entries[i]->d_name[0] != '.') {
			if (asprintf(&child, "%s/%s", path, entries[i]->d_name) < 0)
				exit(1);
			run_path(child);
			free(child);
		}
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
	const char *name = strrchr(argv[0], '/');
	size_t len;

	name = name ? name + 1 : argv[0];
	if (strncmp(name, "fuzz_", 5) == 0)
		name += 5;
	len = strlen(name);
	if (len > 7 && strcmp(name + len - 7, "_replay") == 0)
		len -= 7;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
		struct sigaction now;

		/* A sanitizer has its own handlers for some, and aborts after its report. */
		if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			signal(fatal[i], on_signal);
	}
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	run_made();
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	printf("%.*s: %" PRIu64 " inputs\n", (int)len, name, inputs);
	return 0;
}
