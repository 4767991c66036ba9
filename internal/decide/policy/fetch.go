package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// fetchDestination is the kind of address that a program connects to.
type fetchDestination int

const (
	toOutside         fetchDestination = iota // any host, or unknown
	toLoopback                                // the sandbox's own loopback
	toAllowed                                 // allowed hosts, read only
	toOutsideWithData                         // any host, and it sends our data
)

// parseFetch returns the destination of a curl or wget and the files that it writes. If reaches
// is nil, no host is allowed.
func parseFetch(argv []shell.Word, reaches func(host string, port int) bool) (fetchDestination, []shell.Word) {
	if argv[0].Text == "curl" {
		if where, made := parseLoopbackCurl(argv); where == toLoopback {
			return where, made
		}
	}
	own := func(host string, _ int) bool { return host == "localhost" || host == "127.0.0.1" }
	if made, ok := isOnlyFetchingReads(argv, own); ok && argv[0].Text == "wget" {
		return toLoopback, made
	}
	if made, ok := isOnlyFetchingReads(argv, reaches); ok {
		return toAllowed, made
	}
	if argv[0].Text != "curl" {
		return toOutside, nil
	}
	return parseLoopbackCurl(argv)
}

func sendingOptions() []string {
	return []string{"-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "-F", "--form", "-T", "--upload-file", "--json"}
}

// parseLoopbackCurl judges a curl that may send data if it connects only to its own loopback.
func parseLoopbackCurl(argv []shell.Word) (where fetchDestination, made []shell.Word) {
	own, remote := 0, false
	for i := 1; i < len(argv); i++ {
		a := argv[i]
		switch {
		case a.Dynamic:
			remote = true
		case slices.Contains([]string{"-s", "-S", "-sS", "-f", "-fsS", "-fs", "-i", "-I", "-v", "-k", "-G", "-sf", "-g", "--silent", "--fail", "--show-error", "--include", "--head"}, a.Text):
		case slices.Contains([]string{"-X", "--request", "-H", "--header", "-m", "--max-time", "--retry", "--retry-delay", "--connect-timeout", "-w", "--write-out", "-A"}, a.Text) && i+1 < len(argv):
			i++
			remote = remote || argv[i].Dynamic || strings.HasPrefix(argv[i].Text, "@")
		case (a.Text == "-o" || a.Text == "--output") && i+1 < len(argv):
			i++
			made = append(made, argv[i])
		case slices.Contains(sendingOptions(), a.Text) && i+1 < len(argv):
			i++
			// a file
			reads := strings.ContainsAny(argv[i].Text, "@<") || a.Text == "-T" || a.Text == "--upload-file"
			if slices.Contains([]string{"-d", "--data", "--data-binary", "--data-raw", "--json"}, a.Text) {
				reads = strings.HasPrefix(argv[i].Text, "@")
			}
			remote = remote || argv[i].Dynamic || reads
		case script.IsLoopbackURL(a.Text):
			own++
		default:
			remote = true
		}
	}
	if !remote && own > 0 {
		return toLoopback, made
	}
	if options, _ := shell.SplitOptions(argv[1:]); shell.HasOption(options, sendingOptions()) {
		return toOutsideWithData, made
	}
	return toOutside, made
}

// fetchOptions lists the options of a program that only read.
type fetchOptions struct {
	alone  []string // options without a value
	valued []string // options with a harmless value
	output []string // options that name the output file
	named  string   // the option that names the output file after the URL; "" if that is the default
	short  string   // letters of options without a value
}

func fetchOptionsOf(program string) (fetchOptions, bool) {
	switch program {
	case "curl":
		return fetchOptions{
			alone:  []string{"--silent", "--fail", "--show-error", "--include", "--head", "--location", "--compressed", "--verbose", "--globoff", "--no-progress-meter", "--fail-with-body"},
			valued: []string{"-m", "--max-time", "--retry", "--retry-delay", "--connect-timeout", "--max-redirs"},
			output: []string{"-o", "--output"}, named: "--remote-name", short: "fgiILsSv",
		}, true
	case "wget":
		return fetchOptions{
			alone:  []string{"--quiet", "--no-verbose", "-nv"},
			valued: []string{"-t", "--tries", "-T", "--timeout"},
			output: []string{"-O", "--output-document"}, short: "q",
		}, true
	default:
		return fetchOptions{}, false
	}
}

// isOnlyFetchingReads reports whether a command only reads from allowed hosts, and returns the files
// that it writes.
func isOnlyFetchingReads(argv []shell.Word, reaches func(string, int) bool) (made []shell.Word, ok bool) {
	s, known := fetchOptionsOf(argv[0].Text)
	if !known || reaches == nil {
		return nil, false
	}
	var urls []string
	named := s.named == ""
	for i := 1; i < len(argv); i++ {
		a, next := argv[i], argv[min(i+1, len(argv)-1)]
		if a.Dynamic || a.Glob || a.Home {
			return nil, false
		}
		last := i+1 == len(argv)
		switch option := s.withoutShortOptions(a.Text); {
		case option == "", slices.Contains(s.alone, option):
		case option == s.named:
			named = true
		case !last && slices.Contains(s.valued, option) && !next.Dynamic && strings.Trim(next.Text, "0123456789.") == "":
			i++
		case !last && slices.Contains(s.output, option):
			i++
			made = append(made, next)
		case isAllowedURL(option, reaches):
			urls = append(urls, option)
		default:
			return nil, false
		}
	}
	if named && len(made) == 0 {
		made = filesNamedAfterURLs(urls)
	}
	return made, len(urls) > 0
}

// withoutShortOptions returns an option without the short ones before it in the same word, "" if there are
// only such, and other words unchanged.
func (s fetchOptions) withoutShortOptions(word string) string {
	if isShortOptionCluster(word, s.short) {
		return ""
	}
	if len(word) > 2 && word[0] == '-' && isShortOptionCluster(word[:len(word)-1], s.short) { // -sSLo FILE, -LO
		word = "-" + word[len(word)-1:]
	}
	if word == "-qO-" && s.named == "" {
		return "" // to standard output
	}
	if word == "-O" && s.named != "" {
		return s.named
	}
	return word
}

// filesNamedAfterURLs returns the files that are named after the URLs.
func filesNamedAfterURLs(urls []string) (made []shell.Word) {
	for _, u := range urls {
		name, _, _ := strings.Cut(path.Base(strings.TrimRight(u, "/")), "?")
		if name == "" || strings.Count(u, "/") < 3 {
			name = "index.html"
		}
		made = append(made, shell.LiteralWord("./"+name))
	}
	return made
}

// isShortOptionCluster reports whether a word consists of these short options.
func isShortOptionCluster(word, of string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.Trim(word[1:], of) == ""
}

// isAllowedURL reports whether a word is a plain URL of an allowed host.
func isAllowedURL(url string, reaches func(string, int) bool) bool {
	rest, ok := strings.CutPrefix(url, "https://")
	port := 443
	if !ok {
		if rest, ok = strings.CutPrefix(url, "http://"); !ok {
			return false
		}
		port = 80
	}
	if strings.ContainsAny(rest, "{}[]@\\# \t") {
		return false
	}
	host := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		host = rest[:end]
	}
	host, number, has := strings.Cut(host, ":")
	if has {
		n, err := strconv.Atoi(number)
		if err != nil || strings.Trim(number, "0123456789") != "" {
			return false
		}
		port = n
	}
	return reaches(host, port)
}
