package files

import (
	"errors"
	"testing"
)

func TestGlobsStayInside(t *testing.T) {
	for glob, inside := range map[string]bool{
		"../**": false, "/**/id_rsa": false, "{src,../../out}/**": false, "/etc/passwd": false, "{/etc,src}/*": false, "{src,/etc}/*": false, "a/../../b": false, "**/..": false, `\.\./x`: false, "~/.ssh/*": false, "{a,{b,..}}/c": false,
		"**/*.go": true, "{src,test}/**": true, "a/...": true, "..a/*": true, "*.{js,ts}": true, "x/**/.env": true, "": true, "a..b": true,
	} {
		err := checkGlob(glob)
		refused, ok := errors.AsType[*FileRefusedError](err)
		if (err == nil) != inside || !inside && (!ok || refused.Rule != "path.outside") {
			t.Errorf("%s: %v", glob, err)
		}
	}
}
