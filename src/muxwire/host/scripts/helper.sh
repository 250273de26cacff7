# Runs in the keeper's pane: answers what a RemoteHost asks. A question is a line, `NUMBER VERB WORD...`; each line of
# the answer begins with the number and a tab, and the last one is `NUMBER<tab>.`
d=$1 keep=$2 q=$3
exec 2>/dev/null
trap '' HUP INT QUIT TSTP
stty raw -echo
t() { tmux -S "$d/s" "$@"; }

# The processes of the session that $1 leads; every process is read, so only at an end.
members() {
  for p in /proc/[0-9]*; do
    IFS= read -r s <"$p/stat" || continue
    set -- "$1" ${s##*") "}
    [ "$5" = "$1" ] && printf '%s ' "${p#/proc/}"
  done
}

# Signals $3.. to the session of $1; with $2 = 1 not to the leader.
signal_session() {
  m=$(members "$1") l=$1 spare=$2
  shift 2
  for p in $m; do
    [ "$p" = "$l" ] && continue
    for s in "$@"; do kill -"$s" "$p"; done
  done
  [ "$spare" = 1 ] || for s in "$@"; do kill -"$s" "$l"; done
}

# The leaders of the sessions of what was started in our panes, by the environment that tmux gave it.
sessions() {
  for p in /proc/[0-9]*; do
    case $(tr '\0' '\n' <"$p/environ") in *"TMUX=$d/s,"*) ;; *) continue ;; esac
    IFS= read -r s <"$p/stat" || continue
    set -- ${s##*") "}
    printf '%s\n' "$4"
  done | sort -u
}

# Hang up on the sessions of these leaders, and kill what stays; not on this one.
hang_up() {
  a=
  for l in $1; do
    [ "$l" = "$$" ] || a="$a $(members "$l")"
  done
  [ "$a" ] && kill -HUP $a && kill -CONT $a && { sleep 0.2 || sleep 1; }
  [ "$a" ] && kill -KILL $a
}

# Hang up on every pane, end the server, remove what is ours.
end_all() {
  hang_up "$(t list-panes -a -F '#{pane_pid}')"
  t kill-server
  remove_all
}

remove_all() {
  rm -rf "$d" "$q"
  rmdir "${d%/*}" "${q%/*}"
}

# Signal the server, which has our socket in its arguments; nobody else who has its number by now.
signal_server() {
  a=$(tr '\0' ' ' <"/proc/$PPID/cmdline" || ps -o args= -p "$PPID")
  case $a in *"$d/s"*) kill -"$1" "$PPID" ;; esac
}

server_gone() {
  signal_server TERM
  sleep 1
  signal_server KILL
  hang_up "$(sessions)"
  remove_all
}

beat() { t display-message -p -t =hub '#{@muxwire-beat}'; }

# The far half of the watch over the connection: a client whose driver says nothing for 8 s is killed, for with it every
# pane stands still; after `keep` seconds without one all ends here.
watch() {
  n=0 b=
  while sleep 2; do
    # Without an answer, twice, it is gone, or its socket is: then nobody can ever reach it again.
    x=$(beat) || { sleep 1; x=$(beat); } || { server_gone; exit; }
    if [ "$x" = "$b" ]; then n=$((n + 2)); else n=0 b=$x; fi
    [ "$n" -ge 8 ] || continue
    for p in $(t list-clients -F '#{?client_control_mode,#{client_pid},}'); do kill -9 "$p"; done
    [ "$n" -ge "$keep" ] || continue
    # A person who is attached still uses it.
    [ "$(t list-clients)" ] && n=8 || { end_all; exit; }
  done
}
watch </dev/null >/dev/null &

# Reads of a TCP socket and of a terminal sleep in one function of the kernel. The descriptor, which is the first argument
# of the system call, says which it is, where it may be read.
tty_or_socket() {
  k= a=
  read -r k a _ <"/proc/$1/syscall"
  if [ "$a" ]; then
    [ -S "/proc/$1/fd/$((a))" ] && w=socket
  elif ! [ "$k" ]; then
    for h in "/proc/$1/fd"/*; do
      [ -S "$h" ] && w='tty or socket' && break
    done
  fi
}

# One process: what /proc/PID/stat says behind the name, and where it sleeps.
row() {
  IFS= read -r s <"/proc/$1/stat" || return
  s=${s##*") "}
  set -- "$1" "$2" $s
  w= e=
  IFS= read -r w <"/proc/$1/wchan"
  [ "$w" = wait_woken ] && tty_or_socket "$1"
  { [ "$1" = "$2" ] || [ "$4" = "$leader" ]; } && e=$(readlink "/proc/$1/exe")
  printf '%s\ts\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$n" "$1" "$3" "$4" "$5" "$8" "$9" "$w" "$e"
  [ "$5" = "$2" ] || return
  for h in "/proc/$1/task"/*; do
    [ "$h" = "/proc/$1/task/$1" ] && continue
    w= s=
    IFS= read -r w <"$h/wchan"
    IFS= read -r s <"$h/stat"
    s=${s##*") "}
    printf '%s\tt\t%s\t%s\t%s\n' "$n" "$1" "${s%% *}" "$w"
  done
}

masks() {
  while read -r k v _; do
    case $k in SigIgn:|SigCgt:) printf '%s\tg\t%s\t%s\t%s\n' "$n" "$1" "$k" "$v" ;; esac
  done <"/proc/$1/status"
}

# What runs in the pane $3 of $1, whose terminal is $2: its processes as a tree, for a session has no list of its own. And
# the cursor, last: until tmux answers a new client it has read what the pane wrote before, and has sent it on.
probe() {
  leader=$1 pane=$3
  printf '%s\tm\t%s\n' "$n" "$(stty -a <"$2" | tr '\n\t' '  ')"
  IFS= read -r s <"/proc/$1/stat" || return
  set -- ${s##*") "}
  f=$6 o=$leader seen=' '
  while [ "$o" ]; do
    set -- $o
    p=$1
    shift
    o=$*
    seen="$seen$p "
    row "$p" "$f"
    for h in "/proc/$p/task"/*/children; do
      c=
      read -r c <"$h"
      o="$o${o:+${c:+ }}${c% }"
    done
  done
  case $seen in *" $f "*) ;; *) row "$f" "$f" ;; esac
  printf '%s\tc\t%s\t%s\n' "$n" "$f" "$(dd bs=4096 count=1 <"/proc/$f/cmdline" | tr '\0\n\t' '\037  ')"
  [ "/proc/$f/root$q" -ef "$q" ] && printf '%s\tr\t%s\n' "$n" "$f"
  IFS= read -r s <"/proc/$f/stat"
  set -- ${s##*") "}
  [ $((${7:-0} & 64)) = 0 ] || { masks "$f"; masks "$2"; }
  c=$(t display-message -p -t "$pane" '#{cursor_x} #{cursor_y}') && printf '%s\tu\t%s\n' "$n" "$c"
}

# What the spool of the pane $1 holds from offset $2 on, up to a quarter of a MiB of it.
spooled() {
  f=
  for k in $(ls "$d/spool-$1/" | sort -n); do
    [ "$f" ] && [ "$k" -gt "$2" ] && break
    f=$k
  done
  [ "$f" ] || { printf '%s\ts\t-1\tbase64\n' "$n"; return; }
  [ "$f" -gt "$2" ] && set -- "$1" "$f"
  printf '%s\ts\t%s\t%s\n' "$n" "$2" "$e64"
  tail -c "+$(($2 - f + 1))" "$d/spool-$1/$f" | dd bs=4096 count=64 | $e64
}
command -v base64 >/dev/null && e64=base64 || e64='od -An -v -tx1'

# Until the pane is gone.
serve() {
  while IFS= read -r l; do
    set -f
    set -- $l
    set +f
    [ "$#" -ge 2 ] || continue
    n=$1 v=$2
    shift 2
    case $v in
    p) probe "$@" ;;
    k) kill -"$1" "$2" ;;
    K) signal_session "$@" ;;
    w) printf %b "$2" >"$1" ;;
    r) printf %b "$2" >"$1" </dev/null & ;;
    s) spooled "$@" ;;
    # A file: what stores the output, or is about to, cannot do so then, and ends.
    e) rm -rf "$d/spool-$1"; : >"$d/spool-$1" ;;
    m) stty icrnl opost onlcr icanon isig echo iexten <"$1" ;;
    d) rm -rf "$q/$1" ;;
    f) f=$(printf %b "$1"); cd "$f" && printf '%s\tf\t%s\n' "$n" "$(pwd)"; cd / ;;
    x) f=$(command -v "$(printf %b "$1")") && [ -x "$f" ] && printf '%s\tx\t%s\t%s\n' "$n" "$f" "$(readlink -f "$f")" ;;
    q) end_all </dev/null >/dev/null & ;;
    esac
    printf '%s\t.\n' "$n"
  done
  exit 0
}
# What a sh takes for a fatal error ends one round only.
until (serve); do :; done
