# The first process of a host: makes its file systems, then starts sshd. It runs in namespaces of its own (mounts, processes, name,
# network). $1: folder of the host, $2: its name, $3: programs that the host does not have, separated by spaces
set -eu
dir=$1
name=$2
hidden=$3

mount --make-rprivate /
root=$dir/root
disk=$dir/disk
mount -t tmpfs -o mode=0755,size=1m host "$root"
for folder in usr etc var opt home root tmp srv run proc sys dev old; do mkdir "$root/$folder"; done
for link in bin sbin lib lib32 lib64 libx32; do [ ! -L "/$link" ] || cp -P "/$link" "$root/$link"; done

# Programs of the machine, read only; its settings, under changes of the host. Everything else is the host's own.
mount --bind /usr "$root/usr"
mount -o remount,bind,ro "$root/usr"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$disk/etc,workdir=$dir/work" "$root/etc"
find "$disk/run" -mindepth 1 -delete
mkdir -m 0755 "$disk/run/sshd"
for folder in var opt home root tmp srv run; do mount --bind "$disk/$folder" "$root/$folder"; done
for program in $hidden; do
  for folder in /usr/bin /usr/sbin /usr/local/bin; do
    [ ! -e "$folder/$program" ] || mount --bind /dev/null "$root$(readlink -f "$folder/$program")"
  done
done

mount -t proc proc "$root/proc"
mount -t sysfs -o ro sys "$root/sys"
mount -t tmpfs -o mode=0755,size=64k dev "$root/dev"
for device in null zero full random urandom tty; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777,size=16m shm "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"

hostname "$name"
cd "$root"
pivot_root . old
# The shell stays as the first process: while it waits it also takes the ends of processes whose parents have ended.
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot . /bin/sh -c '
  umount -l /old
  rmdir /old
  /usr/sbin/sshd -D -e &
  wait $!
'
