// Package egress gives commands without a network restricted access: a proxy on the host that
// speaks HTTP and CONNECT, and reaches only the hosts and ports of a list.
//
// A name is resolved once, here. The resulting addresses are checked, and one of them is dialled,
// so that a second answer of a name server cannot matter. Addresses outside of the public internet
// are refused, unless a rule names that very address and port. The content of a tunnel is not
// inspected.
package egress

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const (
	portHTTP  = 80
	portHTTPS = 443
)

// HostTarget is the destination of a connection. Host is a lower-case name without a dot at its end,
// or an address as netip writes it.
type HostTarget struct {
	Host string
	Port uint16
}

// String returns the target in the form of a URL.
func (t HostTarget) String() string {
	if strings.Contains(t.Host, ":") {
		return "[" + t.Host + "]:" + strconv.Itoa(int(t.Port))
	}
	return t.Host + ":" + strconv.Itoa(int(t.Port))
}

// parseIPAddress returns the target's address, if Host is one.
func (t HostTarget) parseIPAddress() (netip.Addr, bool) {
	a, err := netip.ParseAddr(t.Host)
	return a, err == nil
}

// HostRule is an entry of a list of hosts: a name, "*." and a name for all hosts below it, or an
// address; and a port, 443 by default.
type HostRule struct {
	host  string
	below bool   // the hosts below the name, but not the name itself
	all   bool   // every host
	port  uint16 // 0: every port, for denials
}

// ParseAllowedHost parses a rule of allowed hosts.
func ParseAllowedHost(text string) (HostRule, error) {
	r, err := parseHostRule(text)
	if err == nil && r.all {
		err = errors.New("it names every host")
	}
	if err != nil {
		return HostRule{}, fmt.Errorf("%q is not a host to allow: %w", sanitize.TruncateText(text, 100), err)
	}
	r.port = cmp.Or(r.port, portHTTPS)
	return r, nil
}

// ParseDeniedHost parses a rule of denied hosts: without a port it means all ports, and "*" is every
// host.
func ParseDeniedHost(text string) (HostRule, error) {
	r, err := parseHostRule(text)
	if err != nil {
		return HostRule{}, fmt.Errorf("%q is not a host to refuse: %w", sanitize.TruncateText(text, 100), err)
	}
	return r, nil
}

func parseHostRule(text string) (HostRule, error) {
	host, port, err := splitPort(text)
	if err != nil {
		return HostRule{}, err
	}
	r := HostRule{port: port}
	if host == "*" {
		r.all = true
		return r, nil
	}
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		host, r.below = rest, true
	}
	if r.host, err = canonicalHost(host); err != nil {
		return HostRule{}, err
	}
	if r.below {
		if _, err := netip.ParseAddr(r.host); err == nil || !strings.Contains(r.host, ".") {
			return HostRule{}, errors.New("*. must be followed by a name with at least two parts")
		}
	}
	return r, nil
}

// String returns the rule in its written form.
func (r HostRule) String() string {
	host := r.host
	switch {
	case r.all:
		host = "*"
	case r.below:
		host = "*." + host
	}
	if r.port == 0 {
		return host
	}
	return HostTarget{host, r.port}.String()
}

// matchesTarget reports whether the rule matches a target.
func (r HostRule) matchesTarget(t HostTarget) bool {
	switch {
	case r.port != 0 && r.port != t.Port:
		return false
	case r.all || r.host == t.Host || r.port != 0 && isLoopback(r.host) && isLoopback(t.Host):
		return r.all || !r.below
	default:
		_, address := t.parseIPAddress()
		return r.below && !address && strings.HasSuffix(t.Host, "."+r.host)
	}
}

// isLoopback reports whether a host is a loopback name of this machine. A rule with one of them and
// a port means the others, too: programs use them interchangeably.
func isLoopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// HostAccessList defines the reachable hosts: those allowed and not denied. The zero value allows nothing.
type HostAccessList struct {
	Allow []HostRule
	Deny  []HostRule
}

// ParseHostLists parses the allowed hosts, which may include names of presets, and the denied hosts.
func ParseHostLists(allow, presets, deny []string) (HostAccessList, error) {
	var l HostAccessList
	var bad []error
	for _, name := range presets {
		hosts, err := PresetHosts(name)
		bad = append(bad, err)
		allow = append(slices.Clone(allow), hosts...)
	}
	for _, text := range allow {
		r, err := ParseAllowedHost(text)
		bad = append(bad, err)
		if err == nil && !slices.Contains(l.Allow, r) {
			l.Allow = append(l.Allow, r)
		}
	}
	for _, text := range deny {
		r, err := ParseDeniedHost(text)
		bad = append(bad, err)
		l.Deny = append(l.Deny, r)
	}
	if err := errors.Join(bad...); err != nil {
		return HostAccessList{}, err
	}
	return l, nil
}

// matchRule reports whether a target may be requested, and the rule that decides; "" if no rule
// matches.
func (l HostAccessList) matchRule(t HostTarget) (rule string, ok bool) {
	for _, r := range l.Deny {
		if r.matchesTarget(t) {
			return r.String(), false
		}
	}
	for _, r := range l.Allow {
		if r.matchesTarget(t) {
			return r.String(), true
		}
	}
	return "", false
}

// allowsAddress reports whether a rule allows that very address and port.
func (l HostAccessList) allowsAddress(a netip.AddrPort) bool {
	_, ok := l.matchRule(HostTarget{a.Addr().String(), a.Port()})
	return ok
}

// allowsAny reports whether a rule allows one of the addresses with a port.
func (l HostAccessList) allowsAny(all []netip.Addr, port uint16) bool {
	return slices.ContainsFunc(all, func(a netip.Addr) bool { return l.allowsAddress(netip.AddrPortFrom(a, port)) })
}

// canReach reports whether a URL's host and port are on the list.
func (l HostAccessList) canReach(host string, port int) bool {
	if port < 1 || port > 65535 {
		return false
	}
	host, err := canonicalHost(host)
	if err != nil {
		return false
	}
	_, ok := l.matchRule(HostTarget{host, uint16(port)})
	return ok
}

// parseTarget parses "host:port" in the form of CONNECT; usual is the default port, or 0 if the
// port is required.
func parseTarget(text string, usual uint16) (HostTarget, error) {
	host, port, err := splitPort(text)
	if err != nil {
		return HostTarget{}, err
	}
	if port = cmp.Or(port, usual); port == 0 {
		return HostTarget{}, errors.New("it has no port")
	}
	if host, err = canonicalHost(host); err != nil {
		return HostTarget{}, err
	}
	return HostTarget{host, port}, nil
}

const maxHost = 253 // limit of DNS names

// splitPort splits off the port, 0 if there is none. An IPv6 address must be in brackets.
func splitPort(text string) (host string, port uint16, err error) {
	if len(text) > maxHost+len(":65535") {
		return "", 0, errors.New("it is too long")
	}
	var rest string
	var ok bool
	if strings.HasPrefix(text, "[") {
		end := strings.IndexByte(text, ']')
		if end < 0 || !strings.Contains(text[:end], ":") {
			return "", 0, errors.New("brackets are for an IPv6 address")
		}
		host, rest = text[1:end], text[end+1:]
		if rest == "" {
			return host, 0, nil
		}
		if rest, ok = strings.CutPrefix(rest, ":"); !ok {
			return "", 0, errors.New("after the bracket there may only be a port")
		}
	} else if host, rest, ok = strings.Cut(text, ":"); !ok {
		return host, 0, nil
	}
	n, err := strconv.ParseUint(rest, 10, 16)
	if err != nil || n == 0 || rest[0] < '1' || rest[0] > '9' {
		return "", 0, errors.New("its port is not a number from 1 to 65535")
	}
	return host, uint16(n), nil
}

// canonicalHost returns a host in the form for comparison. It refuses addresses in forms that only
// some programs accept, such as 127.1 and 0x7f000001.
func canonicalHost(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", errors.New("it has a zone")
		}
		return a.String(), nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "" || len(name) > maxHost {
		return "", errors.New("its host is empty or too long")
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", errors.New("it is not a name of letters, digits, - and dots; write other scripts as xn--")
		}
	}
	last := labels[len(labels)-1]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == "" {
		return "", errors.New("it is an address in a form that is not accepted")
	}
	return name, nil
}
