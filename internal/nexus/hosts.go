package nexus

// HostReached is a host that a command asked for, all equal answers together.
type HostReached struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Allowed bool   `json:"allowed"`
	Rule    string `json:"rule,omitzero"`    // that says so; empty where none fits
	Why     string `json:"why,omitzero"`     // it was refused, or not reached
	Address string `json:"address,omitzero"` // that was dialled
	Times   int    `json:"times"`
	Up      int64  `json:"up"`   // bytes to it
	Down    int64  `json:"down"` // bytes from it
}
