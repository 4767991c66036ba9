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

// checkRenewed reports why a login is not the same one with new tokens, nil where it
// is. What runs in the agent's sandbox may write anything there: the login of
// another account would let its owner in on all that the person does later.
//
// The documents have the same fields. Tokens and times are different; whose they
// are, what they may do, and everything else is the same. A token that says whose
// it is (a JSON Web Token) says so still.
func checkRenewed(was, is []byte) error {
	var a, b map[string]any
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
		return errors.New("it is not a JSON object")
	}
	return sameBut("", a, b)
}

func sameBut(at string, was, is any) error {
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
			if err := sameBut(strings.TrimPrefix(at+"."+name, "."), a[name], b[name]); err != nil {
				return err
			}
		}
		return nil
	case string:
		if b, ok := is.(string); ok && (a == b || sameText(at, a, b)) {
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

// isTimeField reports whether a field is a time, by its name.
func isTimeField(field string) bool {
	name := strings.ToLower(field[strings.LastIndex(field, ".")+1:])
	return strings.Contains(name, "expir") || strings.HasSuffix(name, "_at") || strings.Contains(name, "refresh")
}

// sameText reports whether a text that differs is a token or a time.
func sameText(field, was, is string) bool {
	name := strings.ToLower(field[strings.LastIndex(field, ".")+1:])
	if then, err := time.Parse(time.RFC3339, was); err == nil {
		now, err := time.Parse(time.RFC3339, is)
		return err == nil && now.After(then)
	}
	if !strings.Contains(name, "token") || len(was) < minSecret || len(is) < minSecret || strings.ContainsAny(is, " \r\n\t") {
		return false
	}
	return reflect.DeepEqual(claims(was), claims(is))
}

// claims returns whose a token is, where it says so.
func claims(token string) map[string]any {
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
