package nexus

// RequestedHost is a host that a command requested; equal requests are combined.
type RequestedHost struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Allowed bool   `json:"allowed"`
	Rule    string `json:"rule,omitzero"`    // the rule that decided; empty if none matches
	Why     string `json:"why,omitzero"`     // why it was refused, or not reached
	Address string `json:"address,omitzero"` // the address that was dialled
	Times   int    `json:"times"`
	Up      int64  `json:"up"`   // bytes sent to it
	Down    int64  `json:"down"` // bytes received from it
}
