package stack

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// nodeScriptFiles returns the scripts of package.json, which the package manager of the lock file
// runs.
func nodeScriptFiles() []ScriptFile {
	return []ScriptFile{{
		Files: []string{"package.json"}, Run: "npm run", Names: manifestScripts,
		Instead: [][2]string{{"pnpm-lock.yaml", "pnpm run"}, {"yarn.lock", "yarn run"}, {"bun.lock", "bun run"}, {"bun.lockb", "bun run"}},
	}}
}

// manifestScripts returns the names of a manifest's scripts, except those that only run before
// or after another one.
func manifestScripts(text string) []string {
	var m struct {
		Scripts map[string]json.RawMessage `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(m.Scripts))
	return slices.DeleteFunc(names, func(n string) bool {
		for _, hook := range []string{"pre", "post"} {
			if of, ok := strings.CutPrefix(n, hook); ok && of != "" {
				if _, there := m.Scripts[of]; there {
					return true
				}
			}
		}
		return false
	})
}

// expandNodeScripts returns the scripts of package.json that the words of a command name, with those
// that run before and after them.
func expandNodeScripts(at fs.FS, words []string) string {
	var manifest struct{ Scripts map[string]string }
	if json.Unmarshal([]byte(ReadLockFile(at, "package.json")), &manifest) != nil {
		return ""
	}
	all, had := "", map[string]bool{}
	for open := words; len(open) > 0; open = open[1:] {
		for _, name := range []string{"pre" + open[0], open[0], "post" + open[0]} {
			line := manifest.Scripts[name]
			if line == "" || had[name] {
				continue
			}
			had[name] = true
			all += "\n" + line
			open = slices.Concat(open, CommandWords([]string{line}))
		}
	}
	return all
}

// jestOpenHandles reads the output of jest --detectOpenHandles.
func jestOpenHandles(lines []string) []OpenHandle {
	kind := regexp.MustCompile(`^ {2}\x{25cf} {2}(\S+)$`)
	frame := regexp.MustCompile(`^\s+at (?:.* \()?([^\s():]+):(\d+):(\d+)\)?$`)
	detected, open := false, ""
	var all []OpenHandle
	for _, l := range lines {
		detected = detected || strings.HasPrefix(l, "Jest has detected the following ")
		if m := kind.FindStringSubmatch(l); detected && m != nil {
			open = m[1]
		} else if m := frame.FindStringSubmatch(l); open != "" && m != nil && !strings.Contains(m[1], "node_modules/") {
			all = append(all, OpenHandle{open, m[1], m[2], m[3]})
			open = ""
		}
	}
	return all
}

// nodeHandleText describes a kind of Node resource in words.
func nodeHandleText(kind string) string {
	for _, x := range []struct{ pattern, what string }{
		{`^TCPSERVERWRAP$`, "a server that listens"},
		{`^PIPESERVERWRAP$`, "a server on a socket"},
		{`^(?:TCPWRAP|PIPEWRAP|HTTPCLIENTREQUEST|HTTPINCOMINGMESSAGE|TLSWRAP)$`, "a connection"},
		{`^(?:UDPWRAP|UDPSENDWRAP)$`, "a socket"},
		{`^(?:Timeout|Immediate)$`, "a timer"},
		{`^(?:PROCESSWRAP|ChildProcess)$`, "a child process"},
		{`^(?:WORKER|MESSAGEPORT)$`, "a worker"},
		{`^(?:FSEVENTWRAP|STATWATCHER)$`, "a file watcher"},
	} {
		if regexp.MustCompile(x.pattern).MatchString(kind) {
			return x.what
		}
	}
	return ""
}

// installRelevantManifest reduces a package.json to the parts that the installation depends on, so
// that a new test script is no reason to install again. A file that cannot be parsed is
// returned unchanged.
func installRelevantManifest(text string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil {
		return text
	}
	kept := map[string]any{}
	for _, field := range []string{
		"name", "bin", "workspaces", "packageManager", "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta",
		"bundleDependencies", "bundledDependencies", "dependenciesMeta", "overrides", "resolutions", "pnpm", "trustedDependencies", "patchedDependencies", "installConfig", "os", "cpu",
	} {
		if v, ok := all[field]; ok {
			kept[field] = v
		}
	}
	var scripts map[string]string
	_ = json.Unmarshal(all["scripts"], &scripts) // none where they are no scripts
	for _, name := range []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "dependencies"} {
		if line, ok := scripts[name]; ok {
			kept["script "+name] = line
		}
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return text
	}
	return string(data)
}

// missingFromNpmLock returns the objections of npm ci to a lock file, none if it failed for another
// reason. It prints the reason before its complete usage text. Without a network it may fail
// before that: then the files are compared.
func missingFromNpmLock(at fs.FS, lock, out string) []string {
	said := regexp.MustCompile(`(?m)^npm (?:error|ERR!) ((?:Missing|Invalid): .{1,300})$`)
	var all []string
	for _, m := range said.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	switch {
	case len(all) > 0:
		return all
	case strings.Contains(out, "can only install with an existing package-lock.json"):
		return []string{"it cannot be read"}
	case strings.Contains(out, "ENOTCACHED"):
		return absentFromNpmLock(at, lock)
	}
	return nil
}

// absentFromNpmLock returns the packages in package.json whose name is not in its lock file.
func absentFromNpmLock(at fs.FS, file string) []string {
	var manifest struct{ Dependencies, DevDependencies map[string]string }
	var lock npmLock
	read := func(name string, into any) bool { return json.Unmarshal([]byte(ReadLockFile(at, name)), into) == nil }
	if !read("package.json", &manifest) || !read(path.Base(file), &lock) || len(lock.Packages) == 0 {
		return nil
	}
	var all []string
	for _, names := range []map[string]string{manifest.Dependencies, manifest.DevDependencies} {
		for name, spec := range names {
			if _, ok := lock.Packages["node_modules/"+name]; !ok {
				all = append(all, "Missing: "+name+" "+spec)
			}
		}
	}
	slices.Sort(all)
	return all
}
