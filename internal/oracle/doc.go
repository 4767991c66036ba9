// Package oracle holds what the program does by itself against libraries that
// it no longer links: the providers' official SDKs. It is a module of its own,
// so that only its tests need them.
package oracle
