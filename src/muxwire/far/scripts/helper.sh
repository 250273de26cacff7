# Runs in the keeper's pane: answers what a RemoteHost asks. A question is a line, `NUMBER VERB WORD...`; each line of
# the answer begins with the number and a tab, and the last one is `NUMBER<tab>.`, or `NUMBER<tab>!` where the question
# could not be asked or the request not be carried out: no process could be started. Then its other lines prove nothing.
d=$1 keep=$2 q=$3
exec 2>/dev/null
trap '' HUP INT QUIT TSTP
n= server=${5:-$PPID} began=$6 silent=${7:-0} b=$8
# Here, and not where it begins anew: whatever starts a process ends that too.
if ! [ "$4" ]; then
  stty raw -echo min 0 time 20
  muxwire_helper=$(cat "$d/helper")
  muxwire_machine=$(uname -m)
  export muxwire_helper muxwire_machine
  IFS= read -r s <"/proc/$server/stat" && set -- ${s##*") "} && began=${20}
  printf '%s %s\n' "$server" "$began" >"$d/server"
  printf '%s %s\n' "$server" "$began" >"$q/server"
fi
[ "$muxwire_tmux" ] || IFS= read -r muxwire_tmux <"$d/program" || muxwire_tmux=tmux
export muxwire_tmux
t() { "$muxwire_tmux" -S "$d/s" "$@" </dev/null; }

# The processes of the sessions that the processes $1 lead: m. It reads every process, so it is called only when
# something ends, and once for all of these sessions.
members() {
  m=
  for p in $(LC_ALL=C sed -n 's/^\([0-9]*\) (.*) [A-Za-z] [0-9]* [0-9]* \([0-9]*\) .*/\1:\2/p' /proc/[0-9]*/stat); do
    case " $1 " in *" ${p#*:} "*) m="$m ${p%:*}" ;; esac
  done
}

# Whether the process $1 is in a session whose leader our tmux server has started, or has ended. A signal may be asked
# for late, when that number is another program's.
is_ours() {
  [ -e "/proc/$1/stat" ] || return 0
  IFS= read -r s <"/proc/$1/stat" && set -- ${s##*") "} || return
  [ "$2" = "$server" ] && return
  IFS= read -r s <"/proc/$4/stat" && set -- ${s##*") "} && [ "$2" = "$server" ]
}

# Signals $3.. to the session of $1; with $2 = 1 not to the leader.
signal_session() {
  is_ours "$1" || return
  members "$1"
  l=$1 spare=$2
  shift 2
  for p in $m; do
    [ "$p" = "$l" ] && continue
    for s in "$@"; do kill -"$s" "$p"; done
  done
  [ "$spare" = 1 ] || for s in "$@"; do kill -"$s" "$l"; done
}

# The files /proc/PID/$1 that contain the text $2, or with $3 = x have it as a whole NUL-terminated entry: h. One grep
# reads them all; the text comes by its standard input, so that its own arguments do not match. Where grep has no -z, this
# shell reads the files; it drops the NULs, and so cannot tell entries apart.
holding() {
  h=$(printf '%s\n' "$2" | grep -lz"$3"F -f - /proc/[0-9]*/"$1")
  [ "$h" ] || h=$(for p in /proc/[0-9]*; do
    while IFS= read -r s || [ "$s" ]; do
      case $s in *"$2"*) printf '%s\n' "$p/$1" && break ;; esac
    done <"$p/$1"
  done)
}

# The leaders of the sessions of what was started in our panes, by the environment that tmux gave it.
sessions() {
  holding environ "TMUX=$d/s,"
  for h in $h; do
    IFS= read -r s <"${h%/*}/stat" || continue
    set -- ${s##*") "}
    printf '%s ' "$4"
  done
  return 0
}

# Hang up on the sessions of these leaders, and kill what stays; not on this one.
hang_up() {
  a=
  for l in $1; do
    [ "$l" = "$$" ] || a="$a $l"
  done
  [ "$a" ] || return
  members "$a"
  [ "$m" ] && kill -HUP $m && kill -CONT $m && { sleep 0.2 || sleep 1; }
  [ "$m" ] && kill -KILL $m
}

# Why all of this ends, in a line that the next connection reads (bootstrap.sh): the directory goes.
say_why() { printf '%s\n' "$1" >"$d.ended"; }

# A question that fails says nothing of the server: its socket may be gone, or no process can be started. It makes its
# socket anew on SIGUSR1 (tmux(1)), in a directory that is there.
ask_for_socket() {
  [ -d "$d" ] || (umask 077 && mkdir -p "$d")
  server_lives && kill -USR1 "$server"
}

# Hang up on every pane, end the server, remove what is ours. A server that cannot be asked stays, unless it is to end
# whatever it holds ($1): then what runs in its panes is known by the environment, and the server gets a signal.
end_all() {
  for k in 1 2 3; do
    a=$(t list-panes -a -F '#{pane_pid}') && break
    [ "$1" ] || return
    ask_for_socket
    sleep 0.2 || sleep 1
    a=$(sessions)
  done
  hang_up "$a"
  t kill-server || { server_lives && kill "$server"; }
  remove_all
}

# The spool of a pane that has just ended may make one more file while rm is at its directory.
remove_all() {
  rm -rf "$d" "$q" || { sleep 0.2 || sleep 1; rm -rf "$d" "$q"; }
  rmdir "${d%/*}" "${q%/*}"
}

# Whether the server is there still; it is the parent of the pane's first process. No process is started for it.
server_lives() {
  kill -0 "$server" || return
  [ "$began" ] || return 0
  IFS= read -r s <"/proc/$server/stat" || return
  set -- ${s##*") "}
  [ "${20}" = "$began" ] && [ "$1" != Z ]
}

beat() { t display-message -p -t =hub '#{@muxwire-beat}'; }

# Where the directory cannot be made anew, nothing can connect any more: all ends after `keep` seconds without a client.
# The socket's path is an argument of the server and of each client.
watch_unreachable() {
  holding cmdline "$d/s" x
  if [ "$h" = "/proc/$server/cmdline" ]; then silent=$((silent + 2)); else silent=0; fi
  [ "$silent" -lt "$keep" ] || kill "$server" # what ran in it is ended where this pane is gone, below
}

# The far half of the watch over the connection, every two seconds in which nothing is asked: a client whose driver says
# nothing for 8 s is killed, for with it every pane stands still; after `keep` seconds without one all ends here. Where no
# driver has ever said anything, the call that this server was started for was given up: no tab is here, and none comes.
watch() {
  if ! x=$(beat); then
    ask_for_socket
    [ -r "$d/server" ] || printf '%s %s\n' "$server" "$began" >"$d/server"
    [ -d "$d" ] || watch_unreachable
    return
  fi
  if [ "$x" = "$b" ]; then silent=$((silent + 2)); else silent=0 b=$x; fi
  [ "$silent" -ge 8 ] || return 0
  for p in $(t list-clients -F '#{?client_control_mode,#{client_pid},}'); do kill -9 "$p"; done
  if [ "$b" ]; then k=$keep; else k=$unused; fi
  [ "$silent" -ge "$k" ] || return 0
  # A person who is attached still uses it.
  x=$(t list-clients) || return 0
  if [ "$x" ]; then
    silent=8
  else
    [ -z "$b" ] || say_why "no muxwire was connected for $keep s (keep), so its programs were ended"
    end_all
  fi
}

# What is read or polled is known by the arguments of the system call, where they may be read: these numbers (see
# host/look.py) are its first word.
case $muxwire_machine in
x86_64) calls='0 read 19 read 1 write 20 write 7 poll 271 ppoll 23 select 270 select 232 epoll 281 epoll 441 epoll2' ;;
aarch64 | riscv64) calls='63 read 65 read 64 write 66 write 72 select 73 ppoll 22 epoll 441 epoll2' ;;
*) calls= ;;
esac
call_name() {
  k= x=$1
  set -- $calls
  while [ "$#" -ge 2 ]; do
    [ "$1" = "$x" ] && k=$2 && return
    shift 2
  done
}

# Which descriptors of the process $1 are those of the terminal $2, its controlling one: y; which are
# masters: m; whether there is a socket: o.
files_of() {
  y=' ' m= o=
  for h in "/proc/$1/fd"/*; do
    if [ "$h" -ef "$2" ] || [ "$h" -ef /dev/tty ]; then y="$y${h##*/} "
    elif [ "$h" -ef /dev/ptmx ] || [ "$h" -ef /dev/pts/ptmx ]; then m="$m ${h##*/}"
    elif [ -S "$h" ]; then o=1
    fi
  done
}

# $3 bytes of the memory of $1 at $2, as numbers.
bytes_of() { dd if="/proc/$1/mem" bs=1 skip="$(($2))" count="$3" | od -An -v -tu1; }

# The files that the poll $k of the process $1 is for: l, `?` if that cannot be read; with its arguments as the rest.
polled() {
  p=$1 l=
  shift
  case $k in
  epoll*)
    i=
    while read -r a c _ e _; do
      i=1
      [ "$a" = tfd: ] && [ $((0x$e & 1)) = 1 ] && l="$l $c"
    done <"/proc/$p/fdinfo/$(($1))"
    [ "$i" ] || l=?
    ;;
  select)
    [ "$(($2))" = 0 ] && return
    i=0 c=$(($1))
    set -- $(bytes_of "$p" "$2" $(((c + 63) / 64 * 8)))
    [ "$#" = $(((c + 63) / 64 * 8)) ] || { l=?; return; }
    while [ "$i" -lt "$c" ]; do
      for e in 1 2 4 8 16 32 64 128; do
        [ $(($1 & e)) = 0 ] || l="$l $i"
        i=$((i + 1))
      done
      shift
    done
    ;;
  *)
    c=$(($2 * 8))
    set -- $(bytes_of "$p" "$1" "$c")
    [ "$#" = "$c" ] || { l=?; return; }
    while [ "$#" -ge 8 ]; do
      [ "$4" -lt 128 ] && [ $(($5 & 1)) = 1 ] && l="$l $(($1 + $2 * 256))"
      shift 8
    done
    ;;
  esac
}

# How long a poll lasts, whose time limit is $2: `endless`, `brief` (less than a second), or neither.
limit_of() {
  case $k in
  poll | epoll)
    v=$(($2 & 4294967295))
    [ "$v" -ge 2147483648 ] && z=endless || { [ "$v" -lt 1000 ] && z=brief; }
    ;;
  *)
    [ "$(($2))" = 0 ] && z=endless && return
    set -- $(bytes_of "$1" "$2" 8)
    [ "$#" = 8 ] && [ "$1$2$3$4$5$6$7$8" = 00000000 ] && z=brief
    ;;
  esac
}

# A process $1 that sleeps in $w, where it may wait for keys of the terminal $2: what its call is
# for, and the inner terminals of which it holds the master.
details() {
  case $w in wait_woken* | n_tty_read* | poll_schedule* | do_sys_poll* | do_poll* | do_select* | ep_poll* | do_epoll*) ;; *) return ;; esac
  files_of "$1" "$2"
  q1=$1 k= z= u= j=
  read -r c a1 a2 a3 a4 a5 _ <"/proc/$1/syscall"
  [ "$a1" ] && call_name "$c"
  case $k in
  '')
    # The kernel does not say what is read or polled: by what is open.
    [ "$y" = ' ' ] && u=0
    [ "$u$o" ] || case $w in wait_woken* | n_tty*) u=1 ;; esac
    ;;
  read | write) case $y in *" $((a1)) "*) u=1 ;; *) u=0 ;; esac ;;
  *)
    case $k in
    poll | ppoll) limit_of "$1" "$a3" ;;
    select) limit_of "$1" "$a5" ;;
    *) limit_of "$1" "$a4" ;;
    esac
    polled "$1" "$a1" "$a2"
    u=0 j=1
    for h in $l; do
      case $y in *" $h "*) u=1 ;; *) j= ;; esac
    done
    [ "$l" = '?' ] && u= j=
    k=poll
    ;;
  esac
  printf '%s\td\t%s\t%s\t%s\t%s\t%s\n' "$n" "$q1" "$k" "$u" "$j" "$z"
  for h in $m; do
    i=-
    while read -r a c; do [ "$a" = tty-index: ] && i=$c; done <"/proc/$q1/fdinfo/$h"
    printf '%s\ti\t%s\t%s\n' "$n" "$q1" "$i"
    inner="$inner $i"
  done
}

# The processes whose /proc/PID/stat has a match of the pattern $1 right after the name, a line each: r. One sed reads
# all of these files: a sh would make a system call for each byte.
table() {
  r=$(LC_ALL=C sed -n "/) $1 /s/^\([0-9]*\) (.*) \([A-Za-z]\( [-0-9]*\)\{6\}\) .*/\1 \2/p" /proc/[0-9]*/stat)
}

# What stty says of the terminal $1, in one line: a.
modes_of() {
  set -f
  set -- $(stty -a <"$1")
  set +f
  a=$*
}

# The program that the process $1 runs: e. It is remembered until the process executes another one, which changes $2: the
# start time of the process and the addresses of its code and stack. Addresses that may not be read are 0.
programs= eol='
'
program_of() {
  case $2 in *' 0') e=$(readlink "/proc/$1/exe"); return ;; esac
  case $programs in
  *"$eol$1 $2 /"*)
    e=/${programs#*"$eol$1 $2 /"}
    e=${e%%"$eol"*}
    ;;
  *)
    e=$(readlink "/proc/$1/exe")
    [ "${#programs}" -lt 4000 ] || programs=
    programs="$programs$eol$1 $2 $e$eol"
    ;;
  esac
}

# What tells the program that the process $1 executes from the next one: v, as the second argument of program_of.
image_of() {
  v=
  IFS= read -r s <"/proc/$1/stat" || return
  set -- ${s##*") "}
  v="${20} ${24} ${25} ${26}"
}

# Say so if the process $1 has ended, or executes another program than when it was $2: where it sleeps was read of one,
# and perhaps its program of the other.
still() {
  image_of "$1"
  [ "$v" = "$2" ] || printf '%s\tx\t%s\n' "$n" "$1"
}

# What the field tty_nr of proc(5) has for the terminal /dev/pts/$1: nr. All of them have the major number 136 (devices.txt);
# bits 8 and up of the minor one are bits 20 and up here.
number_of() { nr=$((34816 + $1 % 256 + $1 / 256 * 1048576)); }

# Whether the process $1 may be on this machine's terminal /dev/pts/$2, and not on a container's, which counts its own
# from 0: the file tells them apart. If it has neither open, it may be.
may_be_here() {
  for h in "/proc/$1/fd"/*; do
    [ "$h" -ef "/dev/pts/$2" ] && return
  done
  a="136, $2"
  set -f
  set -- $(LC_ALL=C ls -lnL "/proc/$1/fd")
  set +f
  case " $* " in *" $a "*) return 1 ;; esac
}

# What runs in the inner terminal $1, at the depth $2.
inside() {
  modes_of "/dev/pts/$1"
  printf '%s\tI\t%s\t%s\n' "$n" "$1" "$a"
  d1=$1 d2=$2
  number_of "$1"
  table "[A-Za-z] [0-9]* [0-9]* [0-9]* $nr"
  inner= IFS=$eol
  for r1 in $r; do
    unset IFS
    set -- $r1
    [ "$6" = "$nr" ] && may_be_here "$1" "$d1" || continue
    image_of "$1"
    i1=$v w= e=$(readlink "/proc/$1/exe")
    IFS= read -r w <"/proc/$1/wchan"
    printf '%s\tp\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$n" "$d1" "$1" "$2" "$3" "$4" "$5" "$7" "$w" "$e"
    [ "$4" = "$7" ] && { details "$1" "/dev/pts/$d1"; still "$1" "$i1"; }
  done
  unset IFS
  [ "$d2" -lt 4 ] && for g in $inner; do
    [ "$g" = - ] || apart "$g" $((d2 + 1))
  done
}

# `inside` in a shell of its own, since it calls itself; one that cannot start a process ends before its last command.
apart() { (inside "$@"; [ -z "$lost" ]) || lost=!; }

# One process $1, where $2 is the foreground group: what /proc/PID/stat says behind the name, and where it sleeps.
row() {
  IFS= read -r s <"/proc/$1/stat" || return
  s=${s##*") "}
  set -- "$1" "$2" $s
  w= e= i1="${22} ${26} ${27} ${28}"
  IFS= read -r w <"/proc/$1/wchan"
  { [ "$5" = "$2" ] || [ "$1" = "$2" ] || [ "$4" = "$leader" ]; } && program_of "$1" "$i1"
  printf '%s\ts\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$n" "$1" "$3" "$4" "$5" "$8" "$9" "$w" "$e"
  [ "$5" = "$2" ] || return
  g1=$1
  details "$1" "$tty"
  for h in "/proc/$g1/task"/*; do
    [ "$h" = "/proc/$g1/task/$g1" ] && continue
    w= s=
    IFS= read -r w <"$h/wchan"
    IFS= read -r s <"$h/stat"
    s=${s##*") "}
    printf '%s\tt\t%s\t%s\t%s\n' "$n" "$g1" "${s%% *}" "$w"
  done
  still "$g1" "$i1"
}

masks() {
  while read -r k v _; do
    case $k in SigIgn:|SigCgt:) printf '%s\tg\t%s\t%s\t%s\n' "$n" "$1" "$k" "$v" ;; esac
  done <"/proc/$1/status"
}

# What runs in the pane of $1, whose terminal is $2: its processes as a tree, for a session has no list of its own.
probe() {
  leader=$1 tty=$2 inner=
  modes_of "$2"
  printf '%s\tm\t%s\n' "$n" "$a"
  IFS= read -r s <"/proc/$1/stat" || return
  set -- ${s##*") "}
  f=$6 r=$leader seen=' '
  while [ "$r" ]; do
    set -- $r
    t1=$1
    shift
    r=$*
    seen="$seen$t1 "
    row "$t1" "$f"
    for h in "/proc/$t1/task"/*/children; do
      c=
      read -r c <"$h"
      r="$r${r:+${c:+ }}${c% }"
    done
  done
  for g in $inner; do
    [ "$g" = - ] || apart "$g" 1
  done
  case $seen in *" $f "*) ;; *) row "$f" "$f" ;; esac
  printf '%s\tc\t%s\t%.4096s\n' "$n" "$f" "$(tr '\0\n\t' '\037  ' <"/proc/$f/cmdline")"
  [ "/proc/$f/root$q" -ef "$q" ] && printf '%s\tr\t%s\n' "$n" "$f"
  IFS= read -r s <"/proc/$f/stat"
  set -- ${s##*") "}
  [ $((${7:-0} & 64)) = 0 ] || { masks "$f"; masks "$2"; }
}

# What the spool of the pane $1 holds from offset $2 on, up to a quarter of a MiB of it. Which file that is in, no other
# process is asked: one that could not be started would look like an empty spool, which is given up.
spooled() {
  f= g=
  [ -e "$d/spool-$1.over" ] || for k in "$d/spool-$1"/*; do
    k=${k##*/}
    case $k in
    *[!0-9]*) ;;
    *)
      if [ "$k" -le "$2" ]; then
        [ "$k" -ge "${f:-0}" ] && f=$k
      else
        [ "$k" -le "${g:-$k}" ] && g=$k
      fi
      ;;
    esac
  done
  f=${f:-$g}
  [ "$f" ] || { printf '%s\ts\t-1\tbase64\n' "$n"; return; }
  [ "$f" -gt "$2" ] && set -- "$1" "$f"
  printf '%s\ts\t%s\t%s\n' "$n" "$2" "$e64"
  tail -c "+$(($2 - f + 1))" "$d/spool-$1/$f" | dd bs=4096 count=64 | $e64
}
command -v base64 >/dev/null && e64=base64 || e64='od -An -v -tx1'

# Whether the terminal $1 is that of the pane whose process is $2. Once that has ended, the path may be another
# terminal's: it is opened before, and stays the one that is compared with the field tty_nr of the process.
is_its_terminal() {
  [ -e /proc/self/stat ] || return 0
  s=
  number_of "${1##*/}"
  IFS= read -r s <"/proc/$2/stat"
  set -- ${s##*") "}
  [ "${5:-0}" = "$nr" ]
}
write_tty() { { is_its_terminal "$1" "$3" && printf %b "$2"; } >"$1"; }
line_modes() { { is_its_terminal "$@" && stty icrnl opost onlcr icanon isig echo iexten; } <"$1"; }

serve() {
  set -f
  set -- $1
  set +f
  [ "$#" -ge 2 ] || return 0
  n=$1 v=$2 lost=
  shift 2
  case $v in
  p) probe "$@" ;;
  k) is_ours "${2#-}" && kill -"$1" "$2" ;;
  K) signal_session "$@" ;;
  w) write_tty "$@" ;;
  W) write_tty "$@" </dev/null & ;;
  s) spooled "$@" ;;
  # A file: what stores the output, or is about to, cannot do so then, and ends. Where no process can be started, what
  # is kept stays, and is not read any more.
  e) printf "" >"$d/spool-$1.over"; rm -rf "$d/spool-$1"; : >"$d/spool-$1" ;;
  m) line_modes "$@" ;;
  d) rm -rf "$q/$1" ;;
  f) f=$(printf %b "$1"); cd "$f" && printf '%s\tf\t%s\n' "$n" "$(pwd)"; cd / ;;
  x)
    f=$(printf %b "$1")
    if c=$(command -v "$f") && [ -x "$c" ]; then
      file_of "$c"
      printf '%s\tx\t%s\t%s\n' "$n" "$c" "$f"
    fi
    ;;
  esac
  printf '%s\t%s\n' "$n" "${lost:-.}"
  n=
  # Not in the background: the loop below would see the pane go, and note that something else has ended the server.
  [ "$v" != q ] || end_all asked </dev/null >/dev/null
}

# What a sh takes for a fatal error, one that cannot start a process among them, ends no more than one answer: it begins
# anew in the same process, which takes none.
again() {
  [ "$n" ] && printf '%s\t!\n' "$n"
  [ -r "$d/helper" ] || printf '%s\n' "$muxwire_helper" >"$d/helper" || exit
  exec sh "$d/helper" "$d" "$keep" "$q" again "$server" "$began" "$silent" "$b"
}
trap again 0
# A read of this terminal ends after two seconds without a key (`min 0 time 20`): also that starts no process.
l=
while :; do
  if IFS= read -r k; then
    serve "$l$k"
    l=
  else
    l=$l$k
    [ -t 0 ] || break
    [ "$k" ] || watch
  fi
done
# The pane is gone, and with it the server, unless only this window was closed. One that was killed lets go of its
# terminals a little before it is no process any more.
for k in 1 2 3; do
  server_lives && sleep 1
done
if ! server_lives; then
  [ -d "$d" ] && say_why "the tmux server there has ended: something has killed it, or ended it"
  a=$(sessions) || exit # and begin anew
  hang_up "$a"
  remove_all
fi
trap - 0
exit 0
