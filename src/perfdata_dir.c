/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directory mode: the files beside `data`.
 *
 * Every regular file called data.SOMETHING is a bare stream of records in the byte order of `data`. The
 * number in its name means nothing; files are taken in a fixed order all the same, so that records of
 * equal time always come in the same order.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "perfdata_priv.h"

static int is_stream(const struct dirent *d)
{
	return !strncmp(d->d_name, "data.", 5) && d->d_name[5];
}

static int add_stream(struct da_reader *r, const char *dir, const char *name, struct da_error *err)
{
	struct input *inputs;
	struct stat st;
	char *path;
	int ret = 0;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", dir);
	/* Not opened before it is known to be a file: opening a FIFO would wait. */
	if (stat(path, &st) < 0) {
		ret = da_fail(err, DA_EIO, errno, "cannot open '%s'", path);
		goto free_path;
	}
	if (!S_ISREG(st.st_mode))
		goto free_path;
	inputs = reallocarray(r->inputs, r->nr_inputs + 1, sizeof(*inputs));
	if (!inputs) {
		ret = da_fail(err, DA_ENOMEM, 0, "cannot read '%s': out of memory", dir);
		goto free_path;
	}
	r->inputs = inputs;
	ret = input_open(&inputs[r->nr_inputs], path, false, err);
	if (!ret)
		r->nr_inputs++;

free_path:
	free(path);
	return ret;
}

int dir_open(struct da_reader *r, const char *path, struct da_error *err)
{
	struct dirent **names;
	int nr = scandir(path, &names, is_stream, versionsort), ret = 0;

	if (nr < 0)
		return da_fail(err, DA_EIO, errno, "cannot read directory '%s'", path);
	for (int i = 0; i < nr; i++) {
		if (!ret)
			ret = add_stream(r, path, names[i]->d_name, err);
		free(names[i]);
	}
	free(names);
	return ret;
}
