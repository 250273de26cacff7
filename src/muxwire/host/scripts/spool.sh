# Runs as a pane's pipe, in our directory: keeps the newest bytes of what the pane of that id writes. Each file is named
# by the offset of its first byte. Before it comes the variable limit.
exec 2>/dev/null
umask 077
trap '' HUP INT TERM
s=$PWD/spool-$1 o=0
mkdir "$s" || exit
# Four files and what is left of an older one are the limit; 16 MiB make one that is read soon.
c=$((limit / 65536))
[ "$c" -gt 0 ] || c=1
[ "$c" -le 1024 ] || c=1024
while dd bs=16384 count="$c" of="$s/$o"; do
  n=$(wc -c <"$s/$o") || exit
  [ "$n" -gt 0 ] || break
  o=$((o + n))
  # As long as what is left without the oldest file is enough.
  set -- $(ls "$s" | sort -n)
  while [ "$#" -gt 1 ] && [ $((o - $2)) -ge "$limit" ]; do
    rm -f "$s/$1"
    shift
  done
done
rm -rf "$s"
