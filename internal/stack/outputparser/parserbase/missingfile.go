package parserbase

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// gone matches the messages of a tool whose input file or script does not exist, with the file
// in the group.
const gone = `^(?:` +
	`(?:\S*/)?\w*sh: (?:line )?(?:\d+: )?(\S*/\S*|\S+\.\w+): (?:No such file or directory|not found|cannot open .*)` +
	`|g?make(?:\[\d+\])?: (\S*/\S*): No such file or directory` +
	`|\S*python[\d.]*: can't open file '(.+)': \[Errno 2\].*` +
	`|Could not open input file: (.+)` +
	`|(?:\S+: )?(?:fatal )?error: (?:file not found: )?([^\s:]+)(?:: No such file or directory|: '[^']+' file not found|)` +
	"|error: couldn't read `?([^`\\s]+)`?: No such file or directory.*" +
	`|\S*ruby[\d.]*: No such file or directory -- (\S+) \(LoadError\)` +
	`|error TS\d+: (?:File|The specified path does not exist:|Cannot find a tsconfig\.json file at the (?:specified|current) directory:) '(.+?)'(?: not found)?\.?` +
	`|(?:stat|lstat) (\S+): (?:no such file or directory|directory not found)` +
	`|go: (go\.mod) file not found in .*` +
	`|(?:ERROR|Error): (?:file or directory not found: |not found: |Unable to access jarfile )(\S+)` +
	"|error: could not find `(\\S+)` in .*" +
	`|npm (?:ERR!|error) enoent .*ENOENT: no such file or directory, open '(.+)'` +
	`|\S+ \[ERROR\] Could not resolve "(\S+)"` +
	`|(?:\S+: )*(?:failed to .*: )?open (\S+): no such file or directory` +
	`)$`

// MissingFileFinding returns the message of a tool whose input file or script does not exist.
// Call it only if no other problem is known: code that misses a file prints the same words.
func MissingFileFinding(in ToolOutput, all []string) (nexus.Finding, bool) {
	re := regexp.MustCompile(gone)
	loaded := regexp.MustCompile(`^Error: Cannot find module '(.+)'$`)
	for i, l := range all {
		l = strings.TrimSpace(l[:min(len(l), 400)])
		file := cmp.Or(firstSubmatch(re, l)...)
		if m := loaded.FindStringSubmatch(l); m != nil && strings.Contains(strings.Join(all[i:min(len(all), i+12)], "\n"), "requireStack: []") {
			file = m[1]
		}
		if strings.HasPrefix(l, "error: ") && file != "" && !strings.Contains(l, "No such file") && !strings.Contains(l, "not f") {
			continue
		}
		if place := in.RelativePath(file); file != "" && (place != "" || file == ".") {
			return nexus.Finding{File: place, Code: CodeEnvironment, Message: l, Advice: "There is no " + path.Clean(place) + ": create it, or name one that exists."}, true
		}
	}
	return nexus.Finding{}, false
}

func firstSubmatch(re *regexp.Regexp, l string) []string {
	if m := re.FindStringSubmatch(l); m != nil {
		return m[1:]
	}
	return nil
}
