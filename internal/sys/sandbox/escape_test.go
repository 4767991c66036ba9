//go:build linux

package sandbox

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/syscalltest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// A harm is a command line that ends with 0 when it did harm.
type harm struct {
	name, script string
	needs        string // programs beside those of every system
	wild         bool   // the machine would suffer: it is never tried outside
	gap          bool   // Landlock alone does not stop it, and says so
	told         bool   // it is done when the host was hurt, whatever the command says
}

const secret = "s3cret-of-the-host"

// scene is a worktree with what a malicious agent left there, beside things
// that no command may touch.
type scene struct {
	dir, tree, out string
	env            []string
	sibling        *exec.Cmd
	reached        *atomic.Int64 // times that somebody came through a socket
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{dir: t.TempDir(), reached: new(atomic.Int64)}
	s.tree, s.out = filepath.Join(s.dir, "tree"), filepath.Join(s.dir, "outside")
	write(t, filepath.Join(s.tree, "file"), "text\n")
	write(t, filepath.Join(s.tree, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n")
	write(t, filepath.Join(s.tree, ".git", "HEAD"), "ref: refs/heads/main\n")
	for _, d := range []string{"objects", "refs", "hooks"} {
		if err := os.MkdirAll(filepath.Join(s.tree, ".git", d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range hidden() {
		write(t, filepath.Join(s.out, name), secret)
	}
	for link, to := range map[string]string{
		"link": "../outside", "abs": s.out, "far": "../../../../../../../.." + s.out, "one": "two", "two": "link", "self": "/proc/self/root" + s.out, "loop": "loop",
	} {
		if err := os.Symlink(to, filepath.Join(s.tree, link)); err != nil {
			t.Fatal(err)
		}
	}
	shm := "/dev/shm/nexus-test-" + rand.Text()
	write(t, shm, secret)
	t.Cleanup(func() { _ = os.Remove(shm) })
	s.sibling = exec.Command("sleep", "1000")
	s.sibling.Env = []string{"PLANTED=" + secret}
	if err := s.sibling.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.sibling.Process.Kill(); _ = s.sibling.Wait() })
	s.listen(t, shm)
	return s
}

// listen opens the sockets that somebody on the host would have.
func (s *scene) listen(t *testing.T, shm string) {
	t.Helper()
	abstract := "@nexus-test-" + rand.Text()
	open := func(network, at string) net.Listener {
		l, err := net.Listen(network, at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.reached.Add(1)
				c.Close()
			}
		}()
		return l
	}
	tcp, six := open("tcp", "127.0.0.1:0"), "0"
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		_, six, _ = net.SplitHostPort(l.Addr().String())
		l.Close()
	}
	open("unix", filepath.Join(s.out, "sock"))
	open("unix", abstract)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { udp.Close() })
	go func() {
		buf := make([]byte, 100)
		for {
			if _, _, err := udp.ReadFrom(buf); err != nil {
				return
			}
			s.reached.Add(1)
		}
	}()
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	_, udpPort, _ := net.SplitHostPort(udp.LocalAddr().String())
	s.env = []string{
		"OUT=" + s.out, "TREE=" + s.tree, "PORT=" + port, "PORT6=" + six, "UDP=" + udpPort, "ABSTRACT=" + abstract[1:], "SHM=" + shm,
		"SIB=" + strconv.Itoa(s.sibling.Process.Pid), "SECRET=" + secret[:7], "PROBE=" + os.Args[0],
	}
}

// hidden returns files of a home and elsewhere that nobody may see.
func hidden() []string {
	return []string{
		"secret", "keep/file", "home/.ssh/id_rsa", "home/.ssh/authorized_keys", "home/.aws/credentials", "home/.netrc", "home/.npmrc",
		"home/.docker/config.json", "home/.config/gh/hosts.yml", "home/.config/nexus/config.toml", "home/.gitconfig", "home/.bashrc",
		"home/.kube/config", "home/.gnupg/secring.gpg", "home/.claude/.credentials.json", "home/.codex/auth.json", "other/tree/.env",
		"state/journal.db", "state/blobs/00", "repo.git/config",
	}
}

// hurt says what became of what nobody may touch.
func (s *scene) hurt() error {
	n := 0
	err := filepath.WalkDir(s.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "sock" {
			return err
		}
		n++
		data, err := os.ReadFile(path)
		if err == nil && string(data) != secret {
			err = fmt.Errorf("%s holds %.40q", path, data)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case n != len(hidden()):
		return fmt.Errorf("there are %d files outside, not %d", n, len(hidden()))
	case s.reached.Load() > 0:
		return fmt.Errorf("%d came through a socket", s.reached.Load())
	case s.sibling.Process.Signal(nil0) != nil:
		return fmt.Errorf("the sibling is gone")
	}
	return nil
}

// free runs a script with no sandbox and reports whether it ended with 0.
func (s *scene) free(t *testing.T, script string) (bool, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir, cmd.Env = s.tree, append(AgentCommandEnv(s.env...), "HOME="+s.dir)
	cmd.SysProcAttr, cmd.WaitDelay = ownGroup(), time.Second
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

func (s *scene) boxed(t *testing.T, b *Box, script string) (bool, Result) {
	t.Helper()
	r, err := b.Run(t.Context(), Command{
		Args: []string{"bash", "-c", script}, Dir: s.tree, Env: AgentCommandEnv(s.env...), Readable: []string{filepath.Dir(os.Args[0])}, Timeout: time.Minute,
	})
	if err != nil && !strings.Contains(script, "kill -") { // a command may end its own box
		t.Errorf("%s: %v", b.Name(), err)
	}
	return err == nil && r.Exit == 0, r
}

// Every harm works without a sandbox, and in none of them: by day it is tried in
// one of them, and at night in all.
func TestEscapeCommands(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "what is tried here is the kernel, by programs of others")
	all := harms()
	for name := range syscalltest.ForbiddenCalls() {
		all = append(all, harm{name: "call " + name, script: `"$PROBE" ` + syscalltest.CallArg + " '" + name + "'"})
	}
	if len(all) < 150 {
		t.Errorf("only %d commands", len(all))
	}
	boxes := map[ConfinementMode]*Box{}
	for _, m := range []ConfinementMode{ModeNative, ModeBwrap, ModeLandlock} {
		if b, err := FindSandbox(t.Context(), m); err == nil || able(m) {
			boxes[m] = b
		} else {
			t.Logf("not tried in %s: %v", m, err)
		}
	}
	tried := 0
	modes := slices.Sorted(maps.Keys(boxes))
	for i, h := range all {
		t.Run(h.name, func(t *testing.T) {
			if h.needs != "" {
				testenv.NeedTool(t, h.needs)
			}
			if !h.wild {
				s := newScene(t)
				worked, said := s.free(t, h.script)
				if h.told {
					wait(t, func() bool { return s.hurt() != nil })
				}
				if !worked {
					t.Skipf(testenv.NoMachine+"does no harm here without a sandbox either: %.200s", said)
				}
			}
			tried++
			s := newScene(t)
			for k, m := range modes {
				if !testenv.RunsNightly() && k != i%len(modes) {
					continue
				}
				b := boxes[m]
				worked, r := s.boxed(t, b, h.script)
				switch err := s.hurt(); {
				case m == ModeLandlock && h.gap:
					s = newScene(t)
				case worked && !h.told || err != nil:
					t.Errorf("%s: %v, %v: %.300s%.300s", m, worked, err, r.Stdout, r.Stderr)
					s = newScene(t)
				case r.TimedOut:
					t.Errorf("%s: hangs", m)
				}
			}
		})
	}
	t.Logf("%d of %d commands tried in %d boxes", tried, len(all), len(boxes))
}

// paths returns what a command may try to read, and whether it is a file of
// the machine's own, which may not be there.
func paths() (planted, machine []string) {
	for _, name := range hidden() {
		planted = append(planted, "$OUT/"+name)
	}
	for _, dir := range []string{
		"../outside", "link", "abs", "far", "one", "two", "self", "./././../outside", "../tree/../outside", "link/../outside", "link/keep/..",
		"/proc/self/root$OUT", "/proc/self/cwd/../outside", "/proc/thread-self/root/$OUT", "/proc/$$/root$OUT", "/proc/$PPID/root$OUT",
		"/proc/self/task/$$/cwd/../outside", "/dev/fd/../cwd/../outside", "//$OUT", "/../../..$OUT", "$OUT/../outside",
	} {
		planted = append(planted, dir+"/secret")
	}
	planted = append(planted, "$SHM", "/proc/$SIB/environ", "/proc/$SIB/root$OUT/secret")
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/home/user"
	}
	return planted, []string{
		"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_ed25519_key", "/etc/machine-id", "/etc/resolv.conf", home + "/.bashrc", home + "/.profile",
		"/var/log/dpkg.log", "/var/lib/dpkg/status", "/proc/kcore", "/proc/kmsg", "/proc/1/mem", "/proc/sysrq-trigger/x",
		"/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/vhost-net", "/dev/tty0", "/dev/console",
		"/dev/input/event0", "/dev/port", "/dev/nvram", "/dev/snapshot", "/dev/cuse", "/dev/btrfs-control", "/dev/mapper/control", "/dev/hwrng", "/dev/tty1", "/dev/ttyS0",
		"/sys/kernel/uevent_helper", "/sys/kernel/notes", "/sys/fs/cgroup/memory/tasks", "/sys/power/state", "/sys/class/net/eth0/address", "/boot/grub/grub.cfg", "/var/spool/cron",
		"/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/containerd/containerd.sock", "/tmp/.X11-unix/X0", "/run/udev/control", "/run/systemd/private",
	}
}

func TestEscapePaths(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "what is tried here is the kernel, by programs of others")
	planted, machine := paths()
	if n := len(planted) + len(machine); n < 60 {
		t.Errorf("only %d paths", n)
	}
	s := newScene(t)
	var there []string
	for _, p := range planted {
		if worked, said := s.free(t, `cat "`+p+`" | grep -q -a "$SECRET"`); !worked && !strings.Contains(p, "$$") {
			t.Errorf("control: %s cannot be read: %s", p, said)
		}
	}
	for _, p := range machine {
		if _, err := os.Lstat(p); err == nil {
			there = append(there, p)
		}
	}
	t.Logf("%d planted, %d of %d of the machine's own", len(planted), len(there), len(machine))
	walled(t, func(t *testing.T, b *Box) {
		t.Helper()
		for _, p := range planted {
			if worked, r := s.boxed(t, b, `cat "`+p+`" | grep -a "$SECRET"`); worked || r.TimedOut {
				t.Errorf("%s was read: %s", p, r.Stdout)
			}
			if worked, _ := s.boxed(t, b, `echo x >"`+p+`"`); worked && p != "$SHM" { // inside it is another
				t.Errorf("%s was written", p)
			}
		}
		for _, p := range machine {
			if worked, r := s.boxed(t, b, `timeout 5 head -c 1 "`+p+`" | grep -q -a -c ''`); worked || r.TimedOut {
				t.Errorf("%s was read: %q", p, r.Stdout)
			}
		}
		if err := s.hurt(); err != nil {
			t.Error(err)
		}
	})
}
