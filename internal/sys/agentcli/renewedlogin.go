package agentcli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// checkRenewedLogin returns an error unless a login is the old one with new tokens. Any process in the
// agent's sandbox may write to the file: with the login of another account, that account's owner
// would see everything that the person does later.
//
// The documents must have the same fields. Tokens and times may differ; the account, the
// permissions, and everything else must be the same. A token that names its account (a JSON Web
// Token) must still name it.
func checkRenewedLogin(was, is []byte) error {
	var a, b map[string]any
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
		return errors.New("it is not a JSON object")
	}
	return equalExceptTokens("", a, b)
}

func equalExceptTokens(at string, was, is any) error {
	switch a := was.(type) {
	case map[string]any:
		b, ok := is.(map[string]any)
		if !ok {
			return fmt.Errorf("%s has another form", at)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))) {
			return fmt.Errorf("it has other fields%s", strings.TrimSuffix(" in "+at, " in "))
		}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			if err := equalExceptTokens(strings.TrimPrefix(at+"."+name, "."), a[name], b[name]); err != nil {
				return err
			}
		}
		return nil
	case string:
		if b, ok := is.(string); ok && (a == b || equalTextOrToken(at, a, b)) {
			return nil
		}
	case float64:
		if b, ok := is.(float64); ok && (a == b || isTimeField(at) && b > a) {
			return nil
		}
	default:
		if reflect.DeepEqual(was, is) {
			return nil
		}
	}
	return fmt.Errorf("%s is another", at)
}

// isTimeField reports whether a field's name is that of a time.
func isTimeField(field string) bool {
	name := strings.ToLower(field[strings.LastIndex(field, ".")+1:])
	return strings.Contains(name, "expir") || strings.HasSuffix(name, "_at") || strings.Contains(name, "refresh")
}

// equalTextOrToken reports whether a changed text is a token or a time, which may change.
func equalTextOrToken(field, was, is string) bool {
	name := strings.ToLower(field[strings.LastIndex(field, ".")+1:])
	if then, err := time.Parse(time.RFC3339, was); err == nil {
		now, err := time.Parse(time.RFC3339, is)
		return err == nil && now.After(then)
	}
	if !strings.Contains(name, "token") || len(was) < minSecret || len(is) < minSecret || strings.ContainsAny(is, " \r\n\t") {
		return false
	}
	return reflect.DeepEqual(tokenClaims(was), tokenClaims(is))
}

// tokenClaims returns the account claims of a token, if it is a JSON Web Token.
func tokenClaims(token string) map[string]any {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var all map[string]any
	if err != nil || json.Unmarshal(data, &all) != nil {
		return nil
	}
	whose := map[string]any{}
	for name, v := range all {
		switch v := v.(type) {
		case string:
			if name != "jti" && name != "nonce" && name != "at_hash" && name != "sid" {
				whose[name] = v
			}
		case map[string]any: // such as https://api.openai.com/auth
			for of, v := range v {
				if s, ok := v.(string); ok && strings.HasSuffix(of, "_id") {
					whose[name+" "+of] = s
				}
			}
		}
	}
	return whose
}
