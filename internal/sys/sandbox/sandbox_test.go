//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/syscalltest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestMain lets the test binary stand for nexus where one has to be killed.
func TestMain(m *testing.M) {
	if code, mine := syscalltest.RunCallFromArgs(os.Args, os.Stdout); mine {
		os.Exit(code)
	}
	if dir := os.Getenv("TEST_VICTIM"); dir != "" {
		victim(ConfinementMode(os.Getenv("TEST_MODE")), dir)
		return
	}
	if mark := os.Getenv(child); mark != "" {
		beKilled(mark, ConfinementMode(os.Getenv(child+"_BOX")), os.Getenv(child+"_DIR"))
		return
	}
	os.Exit(m.Run())
}

// listener takes a port and writes down which, none where none may be had.
const listener = `setsid perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1");
	open $f, ">", "port.new"; print $f $s ? $s->sockport : "none"; close $f; rename "port.new", "port"; sleep 4711' & until test -e port; do sleep 0.01; done
`

// victim runs ten commands that would outlive it.
func victim(m ConfinementMode, dir string) {
	b, err := FindSandbox(context.Background(), m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	for i := range boxesOfVictim {
		all.Go(func() {
			tree := filepath.Join(dir, strconv.Itoa(i))
			if err := os.Mkdir(tree, 0o700); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			_, _ = b.Run(context.Background(), Command{
				Args: []string{"/bin/sh", "-c", listener + `setsid sh -c 'trap "" TERM HUP; echo up >up; exec sleep 4711' & sleep 4711`},
				Dir:  tree, Env: AgentCommandEnv(), Mark: os.Getenv("TEST_OWNER"),
			})
		})
	}
	all.Wait()
}

const boxesOfVictim = 10

func find(tb testing.TB, m ConfinementMode) *Box {
	tb.Helper()
	b, err := FindSandbox(tb.Context(), m)
	if err != nil && !able(m) { // not our fault
		if m == ModeBwrap {
			testenv.NeedTool(tb, "bwrap")
		}
		testenv.NeedMachine(tb, "a sandbox", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// able reports whether this machine allows what a mode needs.
func able(m ConfinementMode) bool {
	switch m {
	case ModeNative:
		return exec.Command("unshare", "--user", "--pid", "--net", "--mount", "--fork", "--map-root-user", "--mount-proc", "true").Run() == nil
	case ModeLandlock:
		return jail.LandlockVersion() >= 3
	default:
		return exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").Run() == nil
	}
}

// spaces runs a test in the boxes that have namespaces.
func spaces(t *testing.T, test func(t *testing.T, b *Box)) {
	t.Helper()
	for _, m := range []ConfinementMode{ModeNative, ModeBwrap} {
		t.Run(string(m), func(t *testing.T) { test(t, find(t, m)) })
	}
}

// walled runs a test in every box but the one without walls.
func walled(t *testing.T, test func(t *testing.T, b *Box)) {
	t.Helper()
	for _, m := range []ConfinementMode{ModeNative, ModeBwrap, ModeLandlock} {
		t.Run(string(m), func(t *testing.T) { test(t, find(t, m)) })
	}
}

// both runs a test in a box of each kind.
func both(t *testing.T, test func(t *testing.T, b *Box)) {
	t.Helper()
	for _, m := range []ConfinementMode{ModeNative, ModeBwrap, ModeLandlock, ModeOff} {
		t.Run(string(m), func(t *testing.T) { test(t, find(t, m)) })
	}
}

func sh(tb testing.TB, b *Box, c Command, script string) Result {
	tb.Helper()
	if c.Dir == "" {
		c.Dir = tb.TempDir()
	}
	if c.Env == nil {
		c.Env = AgentCommandEnv()
	}
	c.Args = []string{"/bin/sh", "-c", script}
	r, err := b.Run(tb.Context(), c)
	if err != nil {
		tb.Fatalf("%s: %v", script, err)
	}
	return r
}

func TestRun(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		t.Helper()
		dir := t.TempDir()
		r := sh(t, b, Command{Dir: dir}, `echo out; echo err >&2; pwd; echo x >file; exit 3`)
		if r.Exit != 3 || string(r.Stdout) != "out\n"+dir+"\n" || string(r.Stderr) != "err\n" || r.Cut || r.TimedOut || r.Duration <= 0 {
			t.Errorf("got %+v, stdout %q, stderr %q", r, r.Stdout, r.Stderr)
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "file")); string(data) != "x\n" {
			t.Errorf("file holds %q", data)
		}
		if r := sh(t, b, Command{Merge: true}, `echo a; echo b >&2; echo c`); string(r.Stdout) != "a\nb\nc\n" || r.Stderr != nil {
			t.Errorf("merged: %q, %q", r.Stdout, r.Stderr)
		}
		if r := sh(t, b, Command{Stdin: strings.NewReader("given")}, `cat`); string(r.Stdout) != "given" {
			t.Errorf("stdin: %q", r.Stdout)
		}
		if r := sh(t, b, Command{Timeout: 10 * time.Second}, `cat; read x; echo end`); string(r.Stdout) != "end\n" || r.TimedOut {
			t.Errorf("closed stdin: %+v", r)
		}
		if r := sh(t, b, Command{}, `kill -SEGV $$`); r.Exit != 128+11 {
			t.Errorf("a signal exits with %d", r.Exit)
		}
		var heard bytes.Buffer
		sh(t, b, Command{Heard: func(p []byte) { heard.Write(p) }}, `echo a; echo b >&2`)
		if heard.Len() != 4 {
			t.Errorf("heard %q", heard.String())
		}
	})
}

func TestMissingProgram(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		t.Helper()
		for _, name := range []string{"no-such-program", "/no/such/program", "./none"} {
			_, err := b.Run(t.Context(), Command{Args: []string{name}, Dir: t.TempDir(), Env: AgentCommandEnv()})
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, c := range []Command{{}, {Args: []string{"true"}}, {Args: []string{"true"}, Dir: "rel"}, {Args: []string{"true"}, Dir: "/"}, {Args: []string{"true"}, Dir: t.TempDir(), Writable: []string{"/a/.."}}} {
			if _, err := b.Run(t.Context(), c); err == nil {
				t.Errorf("%+v ran", c)
			}
		}
		if _, err := b.Run(t.Context(), Command{Args: []string{"true"}, Dir: "/no/such/dir", Env: AgentCommandEnv()}); err == nil {
			t.Error("ran in a directory that is not there")
		}
	})
}

func TestFiles(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		outside, tree, ro, more := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
		write(t, filepath.Join(outside, "secret"), "s3cret")
		write(t, filepath.Join(ro, "lib"), "lib")
		write(t, filepath.Join(tree, ".git"), "gitdir: elsewhere\n")
		write(t, filepath.Join(tree, "kept", "test"), "kept")
		if err := os.Symlink(outside, filepath.Join(tree, "link")); err != nil {
			t.Fatal(err)
		}
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		mine := filepath.Join(home, ".nexus-test-"+strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(mine, []byte("s3cret"), 0o600); err != nil {
			testenv.NeedMachine(t, "a file in the home", err)
		}
		t.Cleanup(func() { _ = os.Remove(mine) })

		c := Command{Dir: tree, Readable: []string{ro, filepath.Join(tree, "kept"), "/no/such"}, Writable: []string{more}}
		for _, script := range []string{ // positive controls
			`echo x >made && mkdir d && echo y >d/e`,
			`echo x >` + more + `/made`,
			`test "$(cat ` + ro + `/lib)" = lib`,
			`test "$(cat kept/test)" = kept`,
			`test "$(cat .git)" = "gitdir: elsewhere"`,
			`echo x >/tmp/a && test -w "$HOME" && echo x >"$HOME/a" && echo x >/dev/null`,
			`ls /usr/bin >/dev/null && test -r /etc/passwd`,
		} {
			if r := sh(t, b, c, script); r.Exit != 0 {
				t.Fatalf("%s: exit %d: %s", script, r.Exit, r.Stderr)
			}
		}
		for _, script := range []string{
			`echo x >` + outside + `/made`,
			`cat ` + outside + `/secret`,
			`cat link/secret`,
			`echo x >link/made`,
			`echo x >` + ro + `/made`,
			`echo x >kept/test`,
			`rm -f kept/test && ! test -e kept/test`,
			`mv kept gone`,
			`echo x >.git`,
			`rm -f .git && ! test -e .git`,
			`mv .git git`,
			`echo x >/usr/made || echo x >/made || echo x >/etc/made || mkdir /home/made`,
			`cat ` + mine,
			`test -e ` + mine,
			`test -e /etc/shadow`,
			`ls -A /run | grep .`,
			`test -e /var/run/docker.sock`,
			`mount -o remount,rw /usr`,
			`umount /tmp`,
			`mknod n b 7 0`,
			`cat /dev/mem /dev/sda /dev/vda`,
			`chroot / true`,
		} {
			if r := sh(t, b, c, script); r.Exit == 0 {
				t.Errorf("%s: worked: %s", script, r.Stdout)
			}
		}
		if left, _ := filepath.Glob(outside + "/*"); len(left) != 1 {
			t.Errorf("outside holds %q", left)
		}
	})
}

// A file is shown inside of what is shown already, and left as it is.
func TestFileInsideOfWhatIsShown(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		ro, tree := t.TempDir(), t.TempDir()
		write(t, filepath.Join(ro, "bin", "tool"), "tool")
		write(t, filepath.Join(tree, "own"), "own")
		c := Command{Dir: tree, Readable: []string{ro, filepath.Join(ro, "bin", "tool"), filepath.Join(tree, "own")}}
		if r := sh(t, b, c, `test "$(cat own `+ro+`/bin/tool)" = owntool && ! echo x >own`); r.Exit != 0 {
			t.Errorf("exit %d: %s", r.Exit, r.Stderr)
		}
	})
}

func TestGitLinkIsNotFollowed(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		outside, tree := t.TempDir(), t.TempDir()
		write(t, filepath.Join(outside, "secret"), "s3cret")
		if err := os.Symlink(outside, filepath.Join(tree, ".git")); err != nil {
			t.Fatal(err)
		}
		if r := sh(t, b, Command{Dir: tree}, `cat .git/secret`); r.Exit == 0 {
			t.Errorf("read %q", r.Stdout)
		}
	})
}

func TestPrivateTmp(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		t.Helper()
		tmp := t.TempDir()
		sh(t, b, Command{Tmp: tmp}, `echo kept >"$HOME/note"`)
		if r := sh(t, b, Command{Tmp: tmp}, `cat "$HOME/note"`); string(r.Stdout) != "kept\n" {
			t.Errorf("a shared /tmp holds %q", r.Stdout)
		}
		if r := sh(t, b, Command{}, `cat "$HOME/note"`); r.Exit == 0 {
			t.Errorf("a fresh home holds %q", r.Stdout)
		}
	})
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		if r := sh(t, b, Command{}, `echo x >/tmp/a`); r.Exit != 0 {
			t.Fatalf("cannot write /tmp: %s", r.Stderr)
		}
		if r := sh(t, b, Command{}, `test -e /tmp/a`); r.Exit == 0 {
			t.Error("/tmp is shared")
		}
	})
}

func TestNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	testenv.NeedTool(t, "bash")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	dial := func(b *Box, script string) int {
		r, err := b.Run(t.Context(), Command{Args: []string{bash, "-c", script}, Dir: t.TempDir(), Env: AgentCommandEnv()})
		if err != nil {
			t.Fatal(err)
		}
		return r.Exit
	}
	script := "exec 3<>/dev/tcp/127.0.0.1/" + port
	if exit := dial(find(t, ModeOff), script); exit != 0 {
		t.Fatalf("control: exit %d", exit)
	}
	walled(t, func(t *testing.T, b *Box) {
		t.Helper()
		if dial(b, script) == 0 {
			t.Error("reached the host's loopback")
		}
		if dial(b, "exec 3<>/dev/udp/192.0.2.1/53") == 0 {
			t.Error("has a route out")
		}
		if b.HidesHost() && testenv.HasTool(t, "python3") {
			py, err := exec.LookPath("python3")
			if err != nil {
				t.Fatal(err)
			}
			r, err := b.Run(t.Context(), Command{Dir: t.TempDir(), Env: AgentCommandEnv(), Args: []string{py, "-c", `
import socket
l=socket.create_server(("127.0.0.1",0)); c=socket.create_connection(l.getsockname()); c.send(b"hi"); print(l.accept()[0].recv(2).decode())`}})
			if err != nil || string(r.Stdout) != "hi\n" {
				t.Errorf("its own loopback: %q, %s, %v", r.Stdout, r.Stderr, err)
			}
		}
	})
}

func TestPrivileges(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		r := sh(t, b, Command{}, `grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status; ls /proc | grep -c '^[0-9]'`)
		for line := range strings.Lines(string(r.Stdout)) {
			name, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimSpace(value); {
			case name == "NoNewPrivs" && value != "1":
				t.Errorf("may gain privileges")
			case strings.HasPrefix(name, "Cap") && strings.Trim(value, "0") != "":
				t.Errorf("%s is %s", name, value)
			}
		}
		if !strings.Contains(string(r.Stdout), "NoNewPrivs") {
			t.Fatalf("control: %q", r.Stdout)
		}
		f := strings.Fields(string(r.Stdout))
		if n, _ := strconv.Atoi(f[len(f)-1]); n < 1 || n > 6 {
			t.Errorf("sees %d processes", n)
		}
	})
}

func TestEnvironment(t *testing.T) {
	t.Setenv("PLANTED_API_KEY", "s3cret")
	t.Setenv("ANTHROPIC_API_KEY", "s3cret")
	both(t, func(t *testing.T, b *Box) {
		t.Helper()
		r := sh(t, b, Command{Env: AgentCommandEnv("GIVEN=yes")}, `env; cat /proc/$PPID/environ /proc/1/environ 2>/dev/null | tr '\0' '\n' | grep -a -i planted`)
		if b.Name() != "off" && bytes.Contains(r.Stdout, []byte("s3cret")) {
			t.Errorf("sees a secret:\n%s", r.Stdout)
		}
		env := sh(t, b, Command{Env: AgentCommandEnv("GIVEN=yes")}, `env`).Stdout
		if bytes.Contains(env, []byte("s3cret")) || !bytes.Contains(env, []byte("GIVEN=yes")) || !bytes.Contains(env, []byte("PATH=")) {
			t.Errorf("environment:\n%s", env)
		}
		// Of two values the last one counts, whoever reads them.
		all, err := b.Run(t.Context(), Command{Args: []string{"/usr/bin/env"}, Dir: t.TempDir(), Env: AgentCommandEnv("TWICE=first", "TWICE=last", "PWD=/else")})
		if err != nil {
			t.Fatal(err)
		}
		twice := all.Stdout
		if bytes.Count(twice, []byte("TWICE=")) != 1 || !bytes.Contains(twice, []byte("TWICE=last")) || bytes.Contains(twice, []byte("/else")) {
			t.Errorf("given twice:\n%s", twice)
		}
	})
}

// unique is an argument of sleep that no other process has.
func unique(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("%d.%d", 5000+os.Getpid()%1000, time.Now().UnixNano()%1e9)
}

// sleepers returns the processes that sleep for so long.
func sleepers(arg string) []string {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var found []string
	for _, f := range all {
		if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte("sleep\x00"+arg)) {
			found = append(found, f)
		}
	}
	return found
}

func TestNothingSurvives(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		t.Helper()
		for name, script := range map[string]string{
			"background":   `sleep %s & :`,
			"nohup":        `nohup sleep %s >/dev/null 2>&1 & :`,
			"setsid":       `setsid sleep %s >/dev/null 2>&1 </dev/null & sleep 0.05`,
			"double fork":  `( ( setsid sleep %s & ) & ) ; sleep 0.05`,
			"term ignored": `(trap "" TERM HUP INT; setsid sh -c 'trap "" TERM; sleep %s; :') & sleep 0.05`,
			"no mark":      `env -i sleep %s & sleep 0.05`,
			"holds stdout": `setsid sleep %s & sleep 0.05; echo done`,
		} {
			t.Run(name, func(t *testing.T) {
				arg := unique(t)
				began := time.Now()
				if r := sh(t, b, Command{}, fmt.Sprintf(script, arg)); r.Exit != 0 {
					t.Fatalf("exit %d: %s", r.Exit, r.Stderr)
				}
				if left := sleepers(arg); left != nil {
					t.Errorf("left %q", left)
				}
				if d := time.Since(began); d > 2*time.Second {
					t.Errorf("took %v", d)
				}
			})
		}
	})
}

func TestControlSleepersAreFound(t *testing.T) {
	arg := unique(t)
	cmd := exec.CommandContext(t.Context(), "sleep", arg)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if len(sleepers(arg)) != 1 {
		t.Fatal("the other tests look for nothing")
	}
}

func TestTimeout(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		t.Helper()
		arg := unique(t)
		r := sh(t, b, Command{Timeout: 2 * time.Second}, `trap "" TERM; echo begun; setsid sleep `+arg+` & sleep `+arg+`; sleep `+arg)
		if !r.TimedOut || r.Exit != -1 || string(r.Stdout) != "begun\n" || r.Duration > time.Minute {
			t.Errorf("got %+v", r)
		}
		if left := sleepers(arg); left != nil {
			t.Errorf("left %q", left)
		}
		cause := errors.New("somebody asked")
		ctx, cancel := context.WithCancelCause(t.Context())
		r, err := b.Run(ctx, Command{
			Args: []string{"/bin/sh", "-c", "echo begun; sleep " + arg}, Dir: t.TempDir(), Env: AgentCommandEnv(),
			Heard: func([]byte) { cancel(cause) },
		})
		if !errors.Is(err, cause) || r.TimedOut || r.Exit != -1 || string(r.Stdout) != "begun\n" {
			t.Errorf("cancelled: %+v, %v", r, err)
		}
		if _, err := b.Run(ctx, Command{Args: []string{"true"}, Dir: t.TempDir(), Env: AgentCommandEnv()}); !errors.Is(err, cause) {
			t.Errorf("ran after the end: %v", err)
		}
	})
}

func TestOutputBomb(t *testing.T) {
	both(t, func(t *testing.T, b *Box) {
		t.Helper()
		size := 200_000_000
		if b.Name() == string(ModeNative) && testenv.RunsNightly() {
			size = 1 << 30
		}
		r := sh(t, b, Command{Cap: 1000}, fmt.Sprintf(`echo first; head -c %d /dev/zero | tr '\0' x; echo; echo last`, size))
		if !r.Cut || len(r.Stdout) > 1100 || !bytes.HasPrefix(r.Stdout, []byte("first\n")) || !bytes.HasSuffix(r.Stdout, []byte("last\n")) ||
			!bytes.Contains(r.Stdout, []byte("bytes left out")) {
			t.Errorf("kept %d: %.50q", len(r.Stdout), r.Stdout)
		}
	})
}

// Runs in each kind of box, more of them at night, lose the
// process that started them, and nothing of them is left: no process, no mount,
// no directory and no control group. Ports are looked at without walls alone:
// the others have none of this machine's.
func TestKilledParents(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "who is killed cannot race")
	both(t, func(t *testing.T, b *Box) {
		t.Helper()
		rounds := 2
		switch {
		case b.Name() == "off":
			rounds = 1
		case testenv.RunsNightly():
			rounds = 100
		}
		before := mounts(t)
		for range rounds {
			killParent(t, b)
		}
		if after := mounts(t); len(after) > len(before) {
			t.Logf("mounts: %d, then %d", len(before), len(after)) // others mount too
		}
	})
}

// mounts returns what is mounted by us.
func mounts(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}

func killParent(t *testing.T, b *Box) {
	t.Helper()
	dir, tmp, owner := t.TempDir(), t.TempDir(), "test-"+unique(t)
	t.Setenv("TMPDIR", tmp)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_VICTIM="+dir, "TEST_MODE="+b.Name(), "TEST_OWNER="+owner)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began := func() []string { up, _ := filepath.Glob(filepath.Join(dir, "*", "up")); return up }
	wait(t, func() bool { return len(began()) == boxesOfVictim }, began)
	alive := func() bool { return proc.CountProcessesOf(owner) > 0 }
	if !alive() {
		t.Fatal("control: nothing runs")
	}
	ports, _ := filepath.Glob(filepath.Join(dir, "*", "port"))
	if len(ports) != boxesOfVictim || b.Name() == "off" && !taken(t, ports[0]) {
		t.Fatalf("control: %d listen", len(ports))
	}
	held := func() int { return len(groupsOf(t, cmd.Process.Pid)) }
	if had := b.groups != nil; had != (held() > 0) {
		t.Fatalf("control: %d groups, and groups can be made: %t", held(), had)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if b.Name() == "off" {
		if n, err := proc.KillProcessesOf(owner); n == 0 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
	}
	wait(t, func() bool { return !alive() }, func() []string { return owned(owner) })
	if n, err := proc.KillProcessesOf(owner); n != 0 || err != nil {
		t.Errorf("a second sweep: %d, %v", n, err)
	}
	if _, err := FindSandbox(t.Context(), ConfinementMode(b.Name())); err != nil { // as the next process does
		t.Fatal(err)
	}
	if n := held(); n > 0 {
		t.Errorf("%d control groups are left", n)
	}
	for _, p := range ports {
		if b.Name() == "off" && taken(t, p) { // the others have a network of their own, where a number is another port, or none
			t.Errorf("%s is still taken", p)
		}
	}
	for _, m := range mounts(t) {
		if strings.Contains(m, dir) || strings.Contains(m, tmp) {
			t.Errorf("mounted: %s", m)
		}
	}
	if b.Name() != "off" { // whose directories nobody is left to remove
		left := func() []string { left, _ := filepath.Glob(filepath.Join(tmp, boxHomePrefix+"*")); return left }
		wait(t, func() bool { // another that begins may kill what would remove it
			if left() == nil {
				return true
			}
			time.Sleep(50 * time.Millisecond)
			findControlGroupParent()
			return left() == nil
		}, left)
	}
}

// taken reports whether somebody listens on the port that a file names.
func taken(t *testing.T, file string) bool {
	t.Helper()
	port, err := os.ReadFile(file)
	if err != nil || string(port) == "none" {
		return false
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+string(port))
	if err != nil {
		return true
	}
	return l.Close() != nil
}

// groupsOf returns the control groups that a process made.
func groupsOf(t *testing.T, pid int) []string {
	t.Helper()
	var all []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "nexusbox-") && strings.Contains(d.Name(), "-"+strconv.Itoa(pid)+"-") {
			all = append(all, path)
		}
		return nil // what is gone meanwhile is none
	})
	return all
}

func TestSweepSparesOthers(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "100")
	cmd.Env = []string{Mark + "=owner-2/x"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if n, _ := proc.KillProcessesOf("owner"); n != 0 {
		t.Errorf("swept %d of another owner", n)
	}
	if n, _ := proc.KillProcessesOf("owner-2"); n != 1 {
		t.Errorf("swept %d, not 1", n)
	}
}

func withBwrap(t *testing.T, path string) *Box {
	t.Helper()
	b, err := newBubblewrapBox(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFindRefuses(t *testing.T) {
	if _, err := FindSandbox(t.Context(), "docker"); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
		t.Error(err)
	}
	broken := testenv.WriteProgram(t, filepath.Join(t.TempDir(), "bwrap"), "#!/bin/sh\necho 'bwrap: no permission' >&2\nexit 1\n")
	if err := withBwrap(t, broken).probeConfinement(t.Context()); err == nil || !strings.Contains(err.Error(), "no permission") {
		t.Error(err)
	}
	var e *nexus.Error
	if err := noSandboxError(nil); !errors.As(err, &e) || e.Code != nexus.CodeSandbox || !strings.Contains(e.Hint, "--sandbox=off") || !strings.Contains(e.Hint, "bubblewrap") {
		t.Error(err)
	}
}

// A process that is in no box is neither bounded nor put into a group, whatever
// bubblewrap says: it could be the machine's first, and all the machine with it.
func TestStrangers(t *testing.T) {
	stranger := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
	about := func(file string) string {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", stranger.Process.Pid, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	limits, group := about("limits"), about("cgroup")
	script := fmt.Sprintf("#!/bin/sh\nprintf '{\"child-pid\":%d}\\n{\"exit-code\":0}\\n' >&%d\nexec sleep 1000\n", stranger.Process.Pid, statusFD)
	liar := testenv.WriteProgram(t, filepath.Join(t.TempDir(), "bwrap"), script)
	if err := withBwrap(t, liar).probeConfinement(t.Context()); err == nil || !strings.Contains(err.Error(), "in no box") {
		t.Errorf("a box that starts nothing passed: %v", err)
	}
	if about("limits") != limits || about("cgroup") != group {
		t.Errorf("a stranger was bounded: %s%s", about("limits"), about("cgroup"))
	}
}

// A worktree, and what is made for a trial, may be below /var/tmp, which else
// is /tmp inside.
func TestBelowVarTmp(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		dir, err := os.MkdirTemp("/var/tmp", "nexus-test-") //nolint:usetesting // the place is what is tested
		if err != nil {
			testenv.NeedMachine(t, "a file in /var/tmp", err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", dir)
		if _, err := FindSandbox(t.Context(), b.mode); err != nil {
			t.Error(err)
		}
		tree := filepath.Join(dir, "tree")
		if err := os.Mkdir(tree, 0o700); err != nil {
			t.Fatal(err)
		}
		r := sh(t, b, Command{Dir: tree}, `echo made >file && test ! -e ../secret && echo x >/var/tmp/mine && ls -A /var/tmp`)
		if r.Exit != 0 || !strings.Contains(string(r.Stdout), "mine") {
			t.Errorf("got %+v: %s %s", r, r.Stdout, r.Stderr)
		}
		if data, err := os.ReadFile(filepath.Join(tree, "file")); err != nil || string(data) != "made\n" {
			t.Errorf("got %q, %v", data, err)
		}
		if _, err := os.Stat("/var/tmp/mine"); err == nil {
			t.Error("wrote in the /var/tmp of the host")
		}
	})
}

// A box that is slow once is tried again, with more time.
func TestSlowTrialIsTriedAgain(t *testing.T) {
	b := find(t, ModeBwrap)
	if err := b.runProbeCommand(t.Context(), time.Nanosecond); !errors.Is(err, errSlow) {
		t.Errorf("a trial without time: %v", err)
	}
	var limits []time.Duration
	err := runTrialTwice(func(limit time.Duration) error {
		limits = append(limits, limit)
		if len(limits) == 1 {
			return errSlow
		}
		return nil
	})
	if err != nil || len(limits) != 2 || limits[1] <= limits[0] {
		t.Errorf("limits %v: %v", limits, err)
	}
}

func TestToolchains(t *testing.T) {
	home := t.TempDir()
	for _, d := range []string{"go/pkg/mod", "bin", ".local/bin", ".local/share", ".local/lib", ".cargo/bin", ".cargo/lib", ".rustup", ".nvm/v20/bin", ".nvm/v20/lib", ".pyenv/shims", "sdk/bin"} {
		if err := os.MkdirAll(filepath.Join(home, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var path []string
	for _, d := range []string{"bin", ".local/bin", ".cargo/bin", ".nvm/v20/bin", ".pyenv/shims", "sdk/bin", "none", ""} {
		path = append(path, filepath.Join(home, d))
	}
	got := toolDirs([]string{"HOME=" + home, "PATH=" + strings.Join(path, ":") + ":/usr/bin::."})
	for _, bad := range []string{home, filepath.Join(home, ".local"), filepath.Join(home, ".cargo"), "/"} {
		for _, g := range got {
			if g == bad {
				t.Errorf("shows %s", bad)
			}
		}
	}
	for _, good := range []string{"go/pkg/mod", "bin", ".local/bin", ".cargo/bin", ".rustup", ".nvm/v20", ".pyenv", "sdk/bin"} {
		if !isCovered(got, filepath.Join(home, good)) {
			t.Errorf("does not show %s: %q", good, got)
		}
	}
}

func TestGoWorksInside(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		gocache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
		if err != nil {
			t.Fatal(err)
		}
		cache := strings.TrimSpace(string(gocache))
		dir := t.TempDir()
		write(t, filepath.Join(dir, "go.mod"), "module x\n\ngo 1.26\n")
		write(t, filepath.Join(dir, "x_test.go"), "package x\n\nimport \"testing\"\n\nfunc Test(t *testing.T) { t.Log(1) }\n")
		r := sh(t, b, Command{Dir: dir, Writable: []string{cache}, Env: AgentCommandEnv("GOCACHE=" + cache)}, `go vet ./... && go test ./...`)
		if r.Exit != 0 || !strings.Contains(string(r.Stdout), "ok") {
			t.Errorf("exit %d: %s%s", r.Exit, r.Stdout, r.Stderr)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wait waits until something is true. What there is then is told when it never
// is.
func wait(t *testing.T, ready func() bool, there ...func() []string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ready(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			for _, f := range there {
				t.Logf("%q", f())
			}
			t.Fatal("waited in vain")
		}
	}
}

// owned returns the processes that carry an owner's mark.
func owned(owner string) []string {
	var all []string
	vars, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range vars {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(owner)) {
			stat, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "stat"))
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			all = append(all, fmt.Sprintf("%.40s %.80s", stat, args))
		}
	}
	return all
}

func BenchmarkBareTrue(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/usr/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBareBwrapTrue is the price of bubblewrap itself.
func BenchmarkBareBwrapTrue(b *testing.B) {
	find(b, ModeBwrap)
	dir := b.TempDir()
	for b.Loop() {
		bareBwrap(b, dir)
	}
}

func bareBwrap(b *testing.B, dir string) {
	b.Helper()
	if err := exec.Command("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
		"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--bind", dir, dir, "--chdir", dir, "/usr/bin/true").Run(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStart runs true bare, in bubblewrap alone, and in each box, in turn,
// and shows the middle and the 95th of a hundred times, and both next to those
// of bubblewrap alone.
func BenchmarkStart(b *testing.B) {
	c := Command{Args: []string{"/usr/bin/true"}, Dir: b.TempDir(), Env: AgentCommandEnv()}
	find(b, ModeBwrap)
	ways := map[string]func(){
		"bare":       func() { _ = exec.Command("/usr/bin/true").Run() },
		"bare-bwrap": func() { bareBwrap(b, c.Dir) },
	}
	for _, m := range []ConfinementMode{ModeNative, ModeBwrap} {
		box := find(b, m)
		ways[string(m)] = func() {
			if _, err := box.Run(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for name, run := range ways {
			began := time.Now()
			run()
			took[name] = append(took[name], time.Since(began))
		}
	}
	at := func(name string, percent int) float64 {
		slices.Sort(took[name])
		return float64(took[name][len(took[name])*percent/100].Microseconds()) / 1000
	}
	for name := range ways {
		b.ReportMetric(at(name, 50), name+"-p50-ms")
		b.ReportMetric(at(name, 95), name+"-p95-ms")
		if name == string(ModeNative) || name == string(ModeBwrap) {
			b.ReportMetric(at(name, 50)/at("bare-bwrap", 50), name+"-p50-x")
			b.ReportMetric(at(name, 95)/at("bare-bwrap", 95), name+"-p95-x")
		}
	}
	b.ReportMetric(0, "ns/op")
}

func benchmarkRun(b *testing.B, m ConfinementMode) {
	b.Helper()
	box := find(b, m)
	c := Command{Args: []string{"/usr/bin/true"}, Dir: b.TempDir(), Env: AgentCommandEnv()}
	for b.Loop() {
		if _, err := box.Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunBwrapTrue(b *testing.B) { benchmarkRun(b, ModeBwrap) }

func BenchmarkRunNativeTrue(b *testing.B) { benchmarkRun(b, ModeNative) }

func BenchmarkRunLandlockTrue(b *testing.B) { benchmarkRun(b, ModeLandlock) }

func BenchmarkRunOffTrue(b *testing.B) { benchmarkRun(b, ModeOff) }
