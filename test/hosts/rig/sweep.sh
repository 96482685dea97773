# Removes the hosts of one run: processes, network, folders, and the record of the run. Repeating it changes nothing.
# $1: the record; its name is the number of the run's network, its second line the folder of the run. $2: `wait`: only after the end
# of standard input, which means that the run has ended, for whatever reason
trap '' INT TERM HUP
record=$1
number=${record##*/}
[ "${2-}" != wait ] || while read -r _; do :; done
[ -e "$record" ] || exit 0
folder=$(sed -n 2p "$record")
for namespace in /run/netns/bh"$number"-*; do
  [ -e "$namespace" ] || continue
  name=${namespace##*/}
  for round in 1 2 3 4 5 6 7 8 9 10; do
    pids=$(ip netns pids "$name" 2>/dev/null)
    [ -n "$pids" ] || break
    kill -s KILL $pids 2>/dev/null
    sleep 0.1
  done
  ip netns delete "$name" 2>/dev/null
done
ip link delete "bh$number" 2>/dev/null
case $folder in
*/baton-hosts-*) rm -rf "$folder" ;;
esac
rm -f "$record"
