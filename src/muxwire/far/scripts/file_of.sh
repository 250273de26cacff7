# Stands before bootstrap.sh and helper.sh. Sets f to the file that the program $1 is, links followed. A sh that is a hard
# link, as in busybox's image, is known by another name of the same file: that of one of $shells.
file_of() {
  f=$(readlink -f "$1")
  case $f in */sh) for k in $shells; do k=$(command -v "$k") && [ "$f" -ef "$k" ] && f=$k && break; done ;; esac
}
