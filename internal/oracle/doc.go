// Package oracle has tests that hold what the program does by itself against
// libraries that it does not link. It is a module of its own, so that only its
// tests need them.
package oracle
