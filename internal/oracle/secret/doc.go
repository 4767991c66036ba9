// Package secret holds what the program finds of secrets against gitleaks.
package secret
