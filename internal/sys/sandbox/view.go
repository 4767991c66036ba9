package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
)

const varTmp = "/var/tmp"

// systemView returns what shows the system, read-only: each mount costs about
// 0.1 ms a command, so there are few.
func systemView() []jail.Mount {
	var mounts []jail.Mount
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives"} {
		info, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		if target, err := os.Readlink(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
			mounts = append(mounts, jail.Mount{How: jail.Link, Path: dir, From: target})
			continue
		}
		mounts = append(mounts, jail.Mount{How: jail.Show, Path: dir})
	}
	java, _ := filepath.Glob("/etc/java*") // a JVM's own configuration is a link to here
	for _, dir := range java {
		mounts = append(mounts, jail.Mount{How: jail.Show, Path: dir})
	}
	return append(mounts, etcFiles()...)
}

// etcFiles returns the files of /etc that ordinary programs read. They are
// copied, which is cheaper than a mount; the rest of /etc holds secrets.
func etcFiles() []jail.Mount {
	var have []jail.Mount
	for _, name := range []string{
		"passwd", "group", "hosts", "nsswitch.conf", "services", "localtime", "ld.so.cache",
	} {
		name = "/etc/" + name
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
			have = append(have, jail.Mount{How: jail.Copy, Path: name})
		}
	}
	return have
}

// mounts returns the view of one command, outer paths first, so that an inner
// one may be narrower or wider than what is around it.
func (b *Box) mounts(c Command) []jail.Mount {
	all := slices.Clone(b.system)
	if c.Tmp != "" {
		all = append(all, jail.Mount{How: jail.Bind, Path: "/tmp", From: c.Tmp})
	} else {
		all = append(all, jail.Mount{How: jail.Tmpfs, Path: "/tmp", Size: c.Limits.Tmp})
	}
	views := b.views(c)
	if slices.ContainsFunc(views, func(m jail.Mount) bool { return within(varTmp, m.Path) }) {
		all = append(all, jail.Mount{How: jail.Tmpfs, Path: varTmp, Size: c.Limits.Tmp}) // nothing can be shown through a link
	} else {
		all = append(all, jail.Mount{How: jail.Link, Path: varTmp, From: "/tmp"})
	}
	return append(all, views...)
}

// views returns the paths of the host that the command sees beside the
// system's.
func (b *Box) views(c Command) []jail.Mount {
	how := map[string]jail.How{}
	for _, p := range b.tools {
		how[p] = jail.Show
	}
	writable := append([]string{c.Dir}, c.Writable...)
	for _, p := range writable {
		how[p] = jail.Bind
		// A link is not followed: it may have been made inside.
		if info, err := os.Lstat(filepath.Join(p, ".git")); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			how[filepath.Join(p, ".git")] = jail.Show
		}
	}
	for _, p := range c.Readable {
		how[p] = jail.Show
	}
	views := make([]jail.Mount, 0, len(how))
	for p, h := range how {
		inner := slices.ContainsFunc(writable, func(w string) bool { return p != w && within(w, p) })
		m := jail.Mount{How: h, Path: p, Inner: inner}
		if p == c.Dir && h == jail.Bind && c.Over != "" {
			m.How, m.Over = jail.Layer, c.Over
		}
		views = append(views, m)
	}
	slices.SortFunc(views, func(a, b jail.Mount) int { return strings.Compare(a.Path, b.Path) })
	return views
}

// toolchains returns the directories outside the system's that programs on
// PATH and their libraries live in. Never a home itself.
func toolchains(env []string) []string {
	home, _ := lookup(env, "HOME")
	path, _ := lookup(env, "PATH")
	dirs := []string{moduleCache(env), rustup(env)}
	if real, err := exec.LookPath("go"); err == nil {
		if real, err = filepath.EvalSymlinks(real); err == nil {
			dirs = append(dirs, filepath.Dir(filepath.Dir(real)))
		}
	}
	for _, dir := range filepath.SplitList(path) {
		dirs = append(dirs, toolDir(dir, home))
	}
	var keep []string
	for _, dir := range dirs {
		if usable(dir, home) && !covered(keep, dir) {
			keep = slices.DeleteFunc(keep, func(k string) bool { return within(dir, k) })
			keep = append(keep, dir)
		}
	}
	return keep
}

// toolDir returns what must be seen so that the programs in a directory of
// PATH work: the directory, or the installation around it.
func toolDir(dir, home string) string {
	parent := filepath.Dir(dir)
	switch {
	case parent == home || parent == filepath.Join(home, ".local") || parent == filepath.Join(home, ".cargo"):
		return dir // the rest of the parent is not a toolchain
	case filepath.Base(dir) == "shims" || isDir(filepath.Join(parent, "lib")) || isDir(filepath.Join(parent, "libexec")):
		return parent
	}
	return dir
}

func usable(dir, home string) bool {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir || !isDir(dir) {
		return false
	}
	if home != "" && within(dir, home) || within(dir, "/tmp") || within(dir, "/root") || within(dir, "/home") {
		return false // it is a home, or around one
	}
	return !covered([]string{"/usr", "/bin", "/sbin", "/lib", "/nix/store", "/proc", "/dev", "/sys"}, dir)
}

func covered(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(d, path) })
}

// within reports whether path is dir or lies in it, both clean.
func within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func moduleCache(env []string) string {
	if dir, ok := lookup(env, "GOMODCACHE"); ok && dir != "" {
		return dir
	}
	if path, ok := lookup(env, "GOPATH"); ok && path != "" {
		return filepath.Join(filepath.SplitList(path)[0], "pkg", "mod")
	}
	if home, ok := lookup(env, "HOME"); ok && home != "" {
		return filepath.Join(home, "go", "pkg", "mod")
	}
	return ""
}

func rustup(env []string) string {
	if dir, ok := lookup(env, "RUSTUP_HOME"); ok {
		return dir
	}
	home, _ := lookup(env, "HOME")
	return filepath.Join(home, ".rustup")
}

// Env returns the environment for a command in a box: what is on a short list
// of names that hold no secrets, settings that keep tools from asking, paging
// and downloading, and extra. HOME is not in it: each box has a private one,
// so caches are private too unless extra names one.
func Env(extra ...string) []string {
	return envFrom(os.Environ(), extra)
}

func envFrom(host, extra []string) []string {
	env := []string{
		"PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1", "TERM=dumb",
		"GOPROXY=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off", "PYTHONDONTWRITEBYTECODE=1",
	}
	for _, name := range []string{
		"PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "TZ", "SOURCE_DATE_EPOCH",
		"GOROOT", "GOOS", "GOARCH", "GOAMD64", "GOEXPERIMENT", "GOMAXPROCS", "CGO_ENABLED", "CC", "CXX", "JAVA_HOME",
	} {
		if v, ok := lookup(host, name); ok {
			env = append(env, name+"="+v)
		}
	}
	flags, _ := lookup(host, "GOFLAGS")
	env = append(env, "GOFLAGS="+strings.TrimSpace(flags+" -buildvcs=false")) // its git directory is out of sight
	if dir := moduleCache(host); isDir(dir) {
		env = append(env, "GOMODCACHE="+dir)
	}
	if dir := rustup(host); isDir(dir) {
		env = append(env, "RUSTUP_HOME="+dir)
	}
	return append(env, extra...)
}
