package egress

import (
	"net"
	"net/netip"
	"strings"
)

// nonPublicRanges returns the address ranges outside of the public internet, from the registries of IANA.
// The list lacks the IPv6 addresses that are not global unicast.
func nonPublicRanges() []string {
	return []string{
		"0.0.0.0/8 unspecified", "10.0.0.0/8 private", "100.64.0.0/10 shared by a carrier", "127.0.0.0/8 loopback",
		"168.63.129.16/32 metadata", "169.254.0.0/16 link-local", "172.16.0.0/12 private", "192.0.0.0/24 reserved",
		"192.0.2.0/24 documentation", "192.88.99.0/24 6to4", "192.168.0.0/16 private", "198.18.0.0/15 benchmarking",
		"198.51.100.0/24 documentation", "203.0.113.0/24 documentation", "224.0.0.0/4 multicast", "240.0.0.0/4 reserved",
		"2001::/23 reserved", // includes Teredo and ORCHID
		"2001:db8::/32 documentation", "2002::/16 6to4", "3fff::/20 documentation",
	}
}

// globalUnicast is the global unicast range of IPv6; NAT64, mapped and local addresses are outside of it.
const globalUnicast = "2000::/3"

// NonPublicAddressKind returns the kind of an address outside of the public internet, and "" for a public
// one.
func NonPublicAddressKind(a netip.Addr) string {
	switch {
	case !a.IsValid() || a.Zone() != "":
		return "no address"
	case a.Is4In6():
		return "an address of IPv4 in one of IPv6"
	case a.IsLoopback():
		return "loopback"
	case a.Is6() && !netip.MustParsePrefix(globalUnicast).Contains(a):
		return "not global"
	}
	for _, s := range nonPublicRanges() {
		if prefix, kind, _ := strings.Cut(s, " "); netip.MustParsePrefix(prefix).Contains(a) {
			return kind
		}
	}
	return ""
}

// isOwnAddress reports whether an address belongs to this machine.
func isOwnAddress(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false // unknown: only the kinds of addresses count
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
