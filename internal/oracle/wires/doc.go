// Package wires holds what the program sends to providers and makes of their
// answers against their official SDKs.
package wires
