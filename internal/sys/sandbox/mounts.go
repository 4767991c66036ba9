package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
)

const varTmp = "/var/tmp"

// systemView returns the read-only mounts of the system: each mount costs about 0.1 ms per
// command, so there are few.
func systemView() []jail.PathMount {
	var mounts []jail.PathMount
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives"} {
		info, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		if target, err := os.Readlink(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
			mounts = append(mounts, jail.PathMount{How: jail.MountLink, Path: dir, From: target})
			continue
		}
		mounts = append(mounts, jail.PathMount{How: jail.MountShow, Path: dir})
	}
	java, _ := filepath.Glob("/etc/java*") // a JVM's configuration is a link to here
	for _, dir := range java {
		mounts = append(mounts, jail.PathMount{How: jail.MountShow, Path: dir})
	}
	return append(mounts, etcFiles()...)
}

// ReadableDirs returns the directories outside of a worktree that every command may read: the
// system's programs and libraries, toolchains, and their dependency caches. Without a box it
// returns those that a box would show.
func (b *Box) ReadableDirs() []string {
	if b == nil {
		return nil
	}
	system, tools := b.system, b.tools
	if b.Name() == string(ModeOff) {
		system, tools = systemView(), toolDirs(os.Environ())
	}
	var all []string
	for _, m := range system {
		if m.How == jail.MountShow && !isWithin("/etc", m.Path) {
			all = append(all, m.Path)
		}
	}
	return append(all, tools...)
}

// etcFiles returns the files of /etc that ordinary programs read. They are copied, which is
// cheaper than a mount; the rest of /etc may contain secrets.
func etcFiles() []jail.PathMount {
	var have []jail.PathMount
	for _, name := range []string{
		"passwd", "group", "hosts", "nsswitch.conf", "services", "localtime", "ld.so.cache",
	} {
		name = "/etc/" + name
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
			have = append(have, jail.PathMount{How: jail.MountCopy, Path: name})
		}
	}
	return have
}

// commandMounts returns the mounts of one command, outer paths first, so that an inner one may have fewer
// or more permissions than the one around it.
func (b *Box) commandMounts(c Command) []jail.PathMount {
	all := slices.Clone(b.system)
	if c.Proxy != nil {
		paths, _ := certificateVars(os.Environ()) // trusted CA certificates
		for _, p := range paths {
			all = append(all, jail.PathMount{How: jail.MountShow, Path: p})
		}
	}
	if c.Tmp != "" {
		all = append(all, jail.PathMount{How: jail.MountBind, Path: "/tmp", From: c.Tmp})
	} else {
		all = append(all, jail.PathMount{How: jail.MountTmpfs, Path: "/tmp", Size: c.Limits.Tmp})
	}
	views := b.visibleMounts(c)
	if slices.ContainsFunc(views, func(m jail.PathMount) bool { return isWithin(varTmp, m.Path) }) {
		all = append(all, jail.PathMount{How: jail.MountTmpfs, Path: varTmp, Size: c.Limits.Tmp}) // nothing can be mounted through a link
	} else {
		all = append(all, jail.PathMount{How: jail.MountLink, Path: varTmp, From: "/tmp"})
	}
	return append(all, views...)
}

// visibleMounts returns the host paths that the command sees besides the system's.
func (b *Box) visibleMounts(c Command) []jail.PathMount {
	how := map[string]jail.PathMountMode{}
	for _, p := range b.tools {
		how[p] = jail.MountShow
	}
	writable := append([]string{c.Dir}, c.Writable...)
	for _, p := range writable {
		how[p] = jail.MountBind
		// A link is not followed: it may have been made inside.
		if info, err := os.Lstat(filepath.Join(p, ".git")); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			how[filepath.Join(p, ".git")] = jail.MountShow
		}
	}
	for _, p := range c.Readable {
		how[p] = jail.MountShow
	}
	for _, p := range c.Hidden {
		// A missing path, or one behind a link, cannot be covered there.
		seen := slices.ContainsFunc(append([]string{c.Dir}, c.Readable...), func(dir string) bool { return isWithin(dir, p) && hasNoLink(dir, p) })
		if info, err := os.Lstat(p); err == nil && (info.IsDir() || info.Mode().IsRegular()) && seen {
			how[p] = jail.MountCover
		}
	}
	views := make([]jail.PathMount, 0, len(how))
	for p, h := range how {
		inner := slices.ContainsFunc(writable, func(w string) bool { return p != w && isWithin(w, p) })
		m := jail.PathMount{How: h, Path: p, Inner: inner}
		if p == c.Dir && h == jail.MountBind && c.Over != "" {
			m.How, m.Over = jail.MountLayer, c.Over
		}
		views = append(views, m)
	}
	slices.SortStableFunc(views, func(a, b jail.PathMount) int { return strings.Compare(a.Path, b.Path) })
	return views
}

// hasNoLink reports whether the path from a directory to p contains no link.
func hasNoLink(dir, p string) bool {
	for at := filepath.Dir(p); len(at) > len(dir); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// AgentCommandEnv returns the environment for a command whose output a model reads: that of [GateCommandEnv],
// variables that turn off paging and colors, and extra.
func AgentCommandEnv(extra ...string) []string {
	return append(GateCommandEnv(NoPagingVars()...), extra...)
}

// GateCommandEnv returns the environment for a gate's command: the variables on a short list of names
// without secrets, settings that keep tools from asking questions and from downloading, and extra.
// HOME is not in it: each box has a private one, so caches are private too unless extra names one.
// Personal terminal settings, such as NO_COLOR, are not in it either, because tests would see
// them.
func GateCommandEnv(extra ...string) []string { return boxToolEnv(os.Environ(), extra) }
