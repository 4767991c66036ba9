package egress

import (
	"net"
	"net/netip"
	"strings"
)

// special returns the addresses that are not the public internet's, after the
// registries of IANA; what of IPv6 is not global unicast is not among them.
func special() []string {
	return []string{
		"0.0.0.0/8 unspecified", "10.0.0.0/8 private", "100.64.0.0/10 shared by a carrier", "127.0.0.0/8 loopback",
		"168.63.129.16/32 metadata", "169.254.0.0/16 link-local", "172.16.0.0/12 private", "192.0.0.0/24 reserved",
		"192.0.2.0/24 documentation", "192.88.99.0/24 6to4", "192.168.0.0/16 private", "198.18.0.0/15 benchmarking",
		"198.51.100.0/24 documentation", "203.0.113.0/24 documentation", "224.0.0.0/4 multicast", "240.0.0.0/4 reserved",
		"2001::/23 reserved", // Teredo and ORCHID too
		"2001:db8::/32 documentation", "2002::/16 6to4", "3fff::/20 documentation",
	}
}

// global is the unicast of IPv6; NAT64, mapped and local addresses are all
// outside of it.
const global = "2000::/3"

// SpecialKind returns what kind of address it is when it is not one of the public
// internet, and nothing when it is.
func SpecialKind(a netip.Addr) string {
	switch {
	case !a.IsValid() || a.Zone() != "":
		return "no address"
	case a.Is4In6():
		return "an address of IPv4 in one of IPv6"
	case a.IsLoopback():
		return "loopback"
	case a.Is6() && !netip.MustParsePrefix(global).Contains(a):
		return "not global"
	}
	for _, s := range special() {
		if prefix, kind, _ := strings.Cut(s, " "); netip.MustParsePrefix(prefix).Contains(a) {
			return kind
		}
	}
	return ""
}

// isOwnAddress reports whether an address is one of this machine's.
func isOwnAddress(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false // then the kinds of addresses are what counts
	}
	for _, have := range all {
		if n, ok := have.(*net.IPNet); ok {
			if b, ok := netip.AddrFromSlice(n.IP); ok && b.Unmap() == a {
				return true
			}
		}
	}
	return false
}
