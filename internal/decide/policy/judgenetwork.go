package policy

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// isLoopback reports whether a word names the sandbox's own loopback.
func (w argumentWord) isLoopback() bool {
	text := w.text
	return slices.ContainsFunc([]string{"localhost", "127.0.0.1", "[::1]", "::1", "0.0.0.0"}, func(host string) bool {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "http://"), "https://"), host)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], ":/?")) && !strings.Contains(rest, "@")
	})
}

// sendingOptions are those with which curl and wget send something.
func sendingOptions() []string {
	return []string{
		"-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "--data-ascii", "-F", "--form", "--form-string", "-T", "--upload-file", "--json",
		"--post-data", "--post-file", "--body-data", "--body-file", "-X", "--request", "--method",
	}
}

// judgeFetch denies sending something to a host that is not allowed. Reading from one is not
// judged: the sandbox has no way there, and says so.
func (j *commandLineJudge) judgeFetch(argv []argumentWord) {
	args := argv[1:]
	sends := slices.ContainsFunc(sendingOptions(), func(o string) bool {
		if argv[0].text == "wget" && len(o) == 2 {
			return false
		}
		i := slices.IndexFunc(args, func(w argumentWord) bool {
			return w.text == o || strings.HasPrefix(w.text, o+"=") || len(o) == 2 && strings.HasPrefix(w.text, o)
		})
		get := (o == "-X" || o == "--request" || o == "--method") && i >= 0 && i+1 < len(args) && slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, args[i+1].text)
		return i >= 0 && !get && !strings.HasSuffix(args[i].text, "GET") && !strings.HasSuffix(args[i].text, "HEAD")
	})
	if !sends && (argv[0].text != "curl" || !sendsByShortOptions(args)) {
		return
	}
	hosts := 0
	for _, w := range args {
		if w.isLoopback() {
			hosts++
			continue
		}
		if u, err := url.Parse(w.text); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			hosts++
			if !j.mayReachHost(u) {
				j.addAnswer(Deny, "net.send", "")
			}
		}
	}
	if hosts == 0 {
		j.addAnswer(Deny, "net.send", "")
	}
}

// sendsByShortOptions reports whether one of curl's clusters of letters sends something, such as -sd.
func sendsByShortOptions(args []argumentWord) bool {
	for i, w := range args {
		if !w.isOption() || w.text[1] == '-' {
			continue
		}
		at := strings.IndexAny(w.text, "dFTXoKuHAebcxmwrzECDtUYyPQh") // the first that takes the rest, or the next word
		if at < 0 {
			continue
		}
		method := w.text[at+1:]
		if method == "" && i+1 < len(args) {
			method = args[i+1].text
		}
		if strings.IndexByte("dFT", w.text[at]) >= 0 || w.text[at] == 'X' && !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, method) {
			return true
		}
	}
	return false
}

func (j *commandLineJudge) mayReachHost(u *url.URL) bool {
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	return j.rules.Reaches != nil && j.rules.Reaches(u.Hostname(), port)
}
