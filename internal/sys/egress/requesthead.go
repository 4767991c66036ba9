package egress

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	maxHead    = 64 << 10 // bytes of the head of a request
	maxHeaders = 128
)

// proxyRequestHead is the head of a request.
type proxyRequestHead struct {
	Method string
	Target HostTarget
	Tunnel bool     // the method is CONNECT
	URL    *url.URL // for all other methods
	Old    bool     // HTTP/1.0
}

// parseRequestHead parses the head of a request to a proxy, including its empty line. It refuses every
// form that two parsers could understand differently.
func parseRequestHead(data []byte) (proxyRequestHead, error) {
	lines, err := requestHeadLines(data)
	if err != nil {
		return proxyRequestHead{}, err
	}
	first := strings.Split(lines[0], " ")
	if len(first) != 3 || !isToken(first[0]) || first[2] != "HTTP/1.1" && first[2] != "HTTP/1.0" {
		return proxyRequestHead{}, errors.New("its first line is not an HTTP/1.1 request")
	}
	h := proxyRequestHead{Method: first[0], Tunnel: first[0] == "CONNECT", Old: first[2] == "HTTP/1.0"}
	usual := uint16(portHTTPS)
	switch {
	case h.Method == "TRACE" || h.Method == "TRACK":
		return proxyRequestHead{}, errors.New("it asks to be sent back")
	case h.Tunnel:
		h.Target, err = parseTarget(first[1], 0)
	default:
		usual = portHTTP
		h.Target, h.URL, err = parseAbsoluteURL(first[1])
	}
	if err != nil {
		return proxyRequestHead{}, err
	}
	return h, h.checkHeaders(lines[1:], usual)
}

// requestHeadLines returns the lines of a head. Each must end with CR LF, and contain neither elsewhere.
func requestHeadLines(data []byte) ([]string, error) {
	text, ok := bytes.CutSuffix(data, []byte("\r\n\r\n"))
	if !ok || len(data) > maxHead {
		return nil, errors.New("its head does not end")
	}
	lines := strings.Split(string(text), "\r\n")
	if len(lines) > maxHeaders+1 {
		return nil, errors.New("it has too many headers")
	}
	for _, l := range lines {
		if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, errors.New("its head holds control characters")
		}
	}
	return lines, nil
}

// parseAbsoluteURL parses the URL of a request other than CONNECT.
func parseAbsoluteURL(text string) (HostTarget, *url.URL, error) {
	rest, ok := strings.CutPrefix(text, "http://")
	if !ok {
		return HostTarget{}, nil, errors.New("it names no http:// URL; https goes through CONNECT")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if strings.ContainsAny(rest, "#\\") || strings.Contains(rest[:end], "@") {
		return HostTarget{}, nil, errors.New("its URL has a user, a fragment or a backslash")
	}
	t, err := parseTarget(rest[:end], portHTTP)
	if err != nil {
		return HostTarget{}, nil, err
	}
	u, err := url.ParseRequestURI(text)
	if err != nil {
		return HostTarget{}, nil, errors.New("its URL cannot be read")
	}
	if u.Host != rest[:end] || u.User != nil {
		return HostTarget{}, nil, errors.New("its URL can be read in two ways")
	}
	u.Host = t.String()
	if t.Port == portHTTP {
		u.Host = strings.TrimSuffix(u.Host, ":80")
	}
	return t, u, nil
}

// checkHeaders checks the headers that define the target and the length of a request.
func (h proxyRequestHead) checkHeaders(lines []string, usual uint16) error {
	var hosts, lengths, codings []string
	for _, l := range lines {
		name, value, ok := strings.Cut(l, ":")
		if !ok || !isToken(name) {
			return errors.New("a header of it has no name, or is folded")
		}
		value = strings.Trim(value, " \t")
		switch strings.ToLower(name) {
		case "host":
			hosts = append(hosts, value)
		case "content-length":
			lengths = append(lengths, value)
		case "transfer-encoding":
			codings = append(codings, value)
		default:
		}
	}
	switch {
	case len(hosts) > 1 || len(hosts) == 0 && !h.Old:
		return errors.New("it needs one Host")
	case len(lengths)+len(codings) > 1:
		return errors.New("it gives its length twice")
	case len(lengths) == 1 && !isDigits(lengths[0]), len(codings) == 1 && !strings.EqualFold(codings[0], "chunked"):
		return errors.New("it gives its length in an unknown way")
	case h.Old && len(codings) > 0:
		return errors.New("it is chunked, which HTTP/1.0 does not support")
	case h.Tunnel && (len(codings) > 0 || len(lengths) == 1 && lengths[0] != "0"):
		return errors.New("it is CONNECT and has a body")
	}
	if len(hosts) == 1 {
		if t, err := parseTarget(hosts[0], usual); err != nil || t.Host != h.Target.Host || !h.Tunnel && t.Port != h.Target.Port {
			return errors.New("its Host is not what it asks for")
		}
	}
	return nil
}

func isDigits(s string) bool {
	if len(s) > 18 || strings.Trim(s, "0123456789") != "" {
		return false
	}
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}

// isToken reports whether a text is a token as HTTP defines it.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// hopByHopHeaders returns the headers that apply to this proxy alone.
func hopByHopHeaders(named []string) []string {
	all := []string{
		"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect",
	}
	for _, v := range named {
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); isToken(name) && !slices.Contains([]string{"host", "content-length"}, strings.ToLower(name)) {
				all = append(all, name)
			}
		}
	}
	return all
}
