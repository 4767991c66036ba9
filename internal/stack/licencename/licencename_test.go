package licencename_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack/licencename"
)

const mit = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n... all copies or substantial portions of the Software."

// TestText tells licences by their texts.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                                                                          "Apache-2.0",
		"Redistribution and use in source and binary forms, with or without ... Neither the name of Google":                                     "BSD-3-Clause",
		"Redistribution and use in source\n and binary forms, with or without":                                                                  "BSD-2-Clause",
		"Mozilla Public License Version 2.0 ... GNU General Public License, Version 2.0":                                                        "MPL-2.0",
		"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that": "ISC",
		"All rights reserved.": "",
	} {
		if got := licencename.LicenceOfText(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestExpression(t *testing.T) {
	for said, want := range map[string]string{
		"mit": "MIT", "The MIT License": "MIT", "Apache License, Version 2.0": "Apache-2.0", "Apache-2.0 OR MIT": "Apache-2.0 OR MIT", "MIT/Apache-2.0": "MIT OR Apache-2.0",
		"(MIT AND bsd-3-clause)": "(MIT AND BSD-3-Clause)", "GPLv3+": "GPL-3.0-or-later", "GPL-2.0-only WITH Classpath-exception-2.0": "GPL-2.0-only WITH Classpath-exception-2.0",
		"UNKNOWN": "", "": "", "SEE LICENSE IN x.txt": "", "Acme Proprietary": "Acme Proprietary", "BSD": "BSD", mit: "MIT", "one\ntwo": "",
	} {
		if got := licencename.ExpressionFor(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"MIT", "(MIT OR Apache-2.0)", mit} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range []string{licencename.ExpressionFor(text), licencename.LicenceOfText(text)} {
			if strings.ContainsAny(l, "\n\x00") {
				t.Fatalf("%q", l)
			}
		}
		if again := licencename.ExpressionFor(licencename.ExpressionFor(text)); again != licencename.ExpressionFor(text) && !strings.ContainsAny(licencename.ExpressionFor(text), "()/") {
			t.Logf("%q becomes %q", licencename.ExpressionFor(text), again)
		}
	})
}
