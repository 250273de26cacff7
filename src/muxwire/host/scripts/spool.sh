# Runs as a pane's pipe: keeps what the pane writes in the directory $1, which it makes. Each file is named by the offset
# of its first byte. With a limit, a variable, it keeps the newest bytes alone, and only until the pane has ended.
# If tmux (process $2) has ended, it ends the pane's session ($3): the kernel's SIGHUP does not reach a shell's loop.
exec 2>/dev/null
umask 077
trap '' HUP INT TERM
s=$1 o=0 tmux=$2 session=$3
case $s in /*) ;; *) s=$PWD/$s ;; esac
mkdir "$s" || exit
# A file holds at most 16 MiB; with a limit, four files and what is left of an older one are that.
c=1024
[ -z "$limit" ] || c=$((limit / 65536))
[ "$c" -gt 0 ] || c=1
[ "$c" -le 1024 ] || c=1024
while dd bs=16384 count="$c" of="$s/$o"; do
  n=$(wc -c <"$s/$o") || break
  [ "$n" -gt 0 ] || break
  o=$((o + n))
  [ "$limit" ] || continue
  # As long as what is left without the oldest file is enough.
  set -- $(ls "$s" | sort -n)
  while [ "$#" -gt 1 ] && [ $((o - $2)) -ge "$limit" ]; do
    rm -f "$s/$1"
    shift
  done
done
[ -z "$limit" ] || rm -rf "$s"

# Send the signal $1 to every process of the session; fail if there is none. One sed reads /proc/PID/stat of all.
signal() {
  k="[A-Za-z] [0-9]* [0-9]* $session"
  p=$(LC_ALL=C sed -n "/) $k /s/^\([0-9]*\) (.*) $k .*/\1/p" /proc/[0-9]*/stat)
  [ "$p" ] || return
  kill -s "$1" $p || :
}
signal 0 || exit
# Time for what ends by itself; tmux may be in the process table a little longer.
sleep 1
read -r l <"/proc/$tmux/stat" && set -- ${l##*") "} && [ "$1" != Z ] && exit
signal HUP
sleep 1
signal KILL
