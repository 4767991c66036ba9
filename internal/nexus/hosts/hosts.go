// Package hosts holds what became of hosts that commands asked for.
package hosts

// Reached is a host that a command asked for, all equal answers together.
type Reached struct {
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
