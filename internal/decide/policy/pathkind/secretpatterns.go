package pathkind

import (
	"path"
	"strings"
)

// MayMatchSecret reports whether a pattern is specific enough to be meant for files with secrets:
// .en? and cred*, but not * or *.json.
func MayMatchSecret(pattern string) bool {
	pattern = strings.ReplaceAll(NormalizeFileName(pattern), "[!", "[^")
	meta := strings.IndexAny(pattern, "*?[")
	if meta < 0 {
		return false
	}
	if pattern == "*.pem" || pattern == "*.key" || pattern == "*.env" {
		return true // it may be a private key
	}
	if strings.HasPrefix(pattern, ".env") && !strings.HasPrefix(pattern, ".env.ex") {
		return true
	}
	for _, name := range []string{
		".env", ".env.local", ".env.production", ".envrc", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", "id_rsa", "id_ed25519",
		"credentials", "credentials.json", "secrets.yaml", "secrets.yml", "secrets.json", "service-account.json", "kubeconfig", "master.key", "terraform.tfstate",
	} {
		dotted := name[0] == '.' && pattern[0] == '.' && meta > 0
		if ok, err := path.Match(pattern, name); err == nil && ok && (dotted || meta >= 3 || len(strings.Trim(pattern, "*?")) >= 3 && !strings.HasPrefix(pattern, "*.")) {
			return true
		}
	}
	return false
}
