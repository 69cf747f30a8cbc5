/* output.c - see output.h. */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"

static const char *kind_name(const struct output *o)
{
    return o->is_folder ? "folder" : "file";
}

static bool open_parent(struct output *o, const char *parent)
{
    o->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->parent < 0 && errno == ENOENT)
        cli_error("%s: there is no folder %s: make it first, or choose another name",
                  o->path, parent);
    else if (o->parent < 0)
        cli_error("%s: the folder %s cannot be opened: %s", o->path, parent,
                  strerror(errno));
    else if (faccessat(o->parent, ".", W_OK | X_OK, AT_EACCESS) != 0)
        cli_error("%s: the folder %s cannot be written to: %s", o->path, parent,
                  strerror(errno));
    else
        return true;
    return false;
}

/* Opens the folder that holds `path` and finds the last part of the path. Returns an
 * exit code. */
static int split(struct output *o)
{
    char *const folder = cli_copy(o->path);
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        folder[--length] = '\0';
    char *const slash = strrchr(folder, '/');
    o->name = cli_copy(slash == NULL ? folder : slash + 1);
    const char *const parent = slash == NULL ? "." : slash == folder ? "/" : folder;
    if (slash != NULL)
        slash[slash == folder] = '\0';

    int code = CLI_OK;
    if (o->name[0] == '\0' || strcmp(o->name, ".") == 0 || strcmp(o->name, "..") == 0) {
        cli_error("%s: ends without a name: add the one that the %s is to have",
                  o->path, kind_name(o));
        code = CLI_USAGE;
    } else if (!open_parent(o, parent)) {
        code = CLI_FAILED;
    }
    free(folder);
    return code;
}

/* Whether the folder is one whose loss was meant by --force: a checkpoint, or empty,
 * and flat, so that nothing goes with it that its owner did not think of. */
static bool may_replace_folder(const struct output *o)
{
    const int fd = openat(o->parent, o->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        cli_error("%s: cannot be opened: %s", o->path, strerror(errno));
        return false;
    }
    bool empty = true, flat = true, checkpoint = false;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat stat;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        empty = false;
        checkpoint |= cli_ends_with(entry->d_name, ".safetensors");
        if (fstatat(fd, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISDIR(stat.st_mode))
            flat = false;
    }
    closedir(folder);
    if (!flat)
        cli_error("%s: has folders inside, which --force does not remove: remove it "
                  "yourself, or choose another name",
                  o->path);
    else if (!empty && !checkpoint)
        cli_error(
            "%s: holds no .safetensors file, and --force replaces only folders that "
            "do: remove it yourself, or choose another name",
            o->path);
    return flat && (empty || checkpoint);
}

int output_check(struct output *o, const char *path, bool is_folder, bool replace)
{
    *o = (struct output){path, .parent = -1, .folder = -1, .is_folder = is_folder,
                         .replace = replace};
    if (path[0] == '\0') {
        cli_error("the name of the output is empty: give one");
        return CLI_USAGE;
    }
    if (!is_folder && cli_ends_with(path, "/")) {
        cli_error("%s: is the name of a folder, and the output is a file: add its name",
                  path);
        return CLI_USAGE;
    }
    const int code = split(o);
    if (code != CLI_OK)
        return code;

    struct stat stat;
    if (fstatat(o->parent, o->name, &stat, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return CLI_OK;
        cli_error("%s: %s", path, strerror(errno));
        return CLI_FAILED;
    }
    if (S_ISLNK(stat.st_mode)) {
        cli_error("%s: is a symbolic link: name the %s itself", path, kind_name(o));
        return CLI_USAGE;
    }
    if (!is_folder && S_ISDIR(stat.st_mode)) {
        cli_error("%s: is a folder, and the output is a file: add its name", path);
        return CLI_USAGE;
    }
    if (is_folder ? !S_ISDIR(stat.st_mode) : !S_ISREG(stat.st_mode)) {
        cli_error("%s: exists and is no %s, as the output is: choose another name",
                  path, kind_name(o));
        return CLI_USAGE;
    }
    if (!replace) {
        cli_error("%s: exists; --force replaces it", path);
        return CLI_USAGE;
    }
    return !is_folder || may_replace_folder(o) ? CLI_OK : CLI_USAGE;
}

/* Calls make(o, mode) with names until there is one that nothing has. */
static int make_temp(struct output *o, int make(const struct output *, mode_t),
                     mode_t mode)
{
    int made = -1;
    for (int i = 0; i < 100 && made < 0; i++) {
        snprintf(o->temp, sizeof o->temp, ".taper-%ld-%d.tmp", (long)getpid(), i);
        made = make(o, mode);
        if (made < 0 && errno != EEXIST)
            break;
    }
    if (made < 0) {
        cli_error("%s: nothing can be made beside it: %s", o->path, strerror(errno));
        o->temp[0] = '\0';
    }
    return made;
}

static int make_file(const struct output *o, mode_t mode)
{
    return openat(o->parent, o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

static int make_folder(const struct output *o, mode_t mode)
{
    return mkdirat(o->parent, o->temp, mode);
}

bool output_make_folder(struct output *o, mode_t mode)
{
    if (make_temp(o, make_folder, mode | 0700) < 0)
        return false;
    o->folder = openat(o->parent, o->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->folder < 0)
        cli_error("%s: %s", o->path, strerror(errno));
    return o->folder >= 0;
}

int output_open(struct output *o, const char *name, mode_t mode, off_t bytes)
{
    int fd;
    if (o->is_folder) {
        fd = openat(o->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0)
            cli_error("%s/%s: cannot be made: %s", o->path, name, strerror(errno));
    } else {
        fd = make_temp(o, make_file, mode);
    }
    if (fd < 0)
        return -1;
    /* Some file systems cannot set bytes aside; they will say so when they are full. */
    if (bytes > 0 && fallocate(fd, 0, 0, bytes) != 0 && errno != EOPNOTSUPP &&
        errno != ENOSYS) {
        cli_error("%s: no room for %lld bytes: %s", o->path, (long long)bytes,
                  strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

bool output_write(const struct output *o, int fd, const char *text, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t put = pwrite(fd, text + done, bytes - done, (off_t)done);
        if (put < 0 && errno != EINTR) {
            cli_error("%s: cannot be written: %s", o->path, strerror(errno));
            return false;
        }
        done += put < 0 ? 0 : (size_t)put;
    }
    return true;
}

bool output_close(struct output *o, int fd)
{
    const bool synced = fsync(fd) == 0;
    const int error = errno;
    const bool closed = close(fd) == 0;
    if (!synced || !closed)
        cli_error("%s: cannot be written: %s", o->path,
                  strerror(synced ? errno : error));
    return synced && closed;
}

static bool remove_folder(int parent, const char *name)
{
    const int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *const folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL)
        return false;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(fd, entry->d_name, 0);
    closedir(folder);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

static bool rename_temp(const struct output *o, unsigned flags)
{
    return renameat2(o->parent, o->temp, o->parent, o->name, flags) == 0;
}

/* A new name; without renameat2() in the file system, what output_check() saw must do.
 */
static bool appear(const struct output *o)
{
    return rename_temp(o, RENAME_NOREPLACE) ||
           ((errno == EINVAL || errno == ENOSYS) && rename_temp(o, 0));
}

/* A folder cannot be renamed over another that has files, but the two can swap names.
 */
static bool swap_folders(struct output *o)
{
    if (!rename_temp(o, RENAME_EXCHANGE))
        return errno == ENOENT && appear(o);
    if (!remove_folder(o->parent, o->temp))
        cli_error(
            "%s: is complete, but the old folder beside it, %s, cannot be removed: "
            "%s",
            o->path, o->temp, strerror(errno));
    return true;
}

bool output_publish(struct output *o)
{
    if (o->is_folder && fsync(o->folder) != 0) {
        cli_error("%s: cannot be written: %s", o->path, strerror(errno));
        return false;
    }
    const bool there = !o->replace    ? appear(o)
                       : o->is_folder ? swap_folders(o)
                                      : rename_temp(o, 0);
    if (!there) {
        cli_error("%s: cannot take that name: %s", o->path, strerror(errno));
        return false;
    }
    o->temp[0] = '\0';
    if (fsync(o->parent) != 0 && errno != EINVAL) { /* EINVAL: not a thing to sync */
        cli_error("%s: is complete, but the folder it is in cannot be synced: %s",
                  o->path, strerror(errno));
        return false;
    }
    return true;
}

bool output_text(struct output *o, const char *text)
{
    interrupt_catch();
    const int fd = output_open(o, NULL, 0666, 0);
    if (fd < 0)
        return false;
    if (!output_write(o, fd, text, strlen(text))) {
        close(fd);
        return false;
    }
    return output_close(o, fd) && !interrupt_came() && output_publish(o);
}

void output_discard(struct output *o)
{
    if (o->folder >= 0)
        close(o->folder);
    if (o->temp[0] != '\0' && !(o->is_folder ? remove_folder(o->parent, o->temp)
                                             : unlinkat(o->parent, o->temp, 0) == 0))
        cli_error("%s: the unfinished %s beside it cannot be removed: %s", o->path,
                  o->temp, strerror(errno));
    if (o->parent >= 0)
        close(o->parent);
    free(o->name);
}
