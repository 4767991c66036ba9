package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// builtinProgramJudge returns the judge of a program that the table cannot describe, or nil.
func (j *lineJudge) builtinProgramJudge(name string) func([]shell.Word) {
	switch name {
	case "env", "cross-env", "command", "builtin", "nohup", "timeout", "nice", "time", "stdbuf", "ionice", "setsid", "exec", "xargs", "busybox", "shx":
		return j.judgeWrapper
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "fish":
		return j.judgeShell
	case "eval":
		return j.judgeEval
	case "trap":
		return j.judgeTrap
	case ".", "source":
		return j.judgeSource
	case "cd", "pushd":
		return j.judgeCd
	case "popd", "dirs":
		return func([]shell.Word) { j.addAnswer(Ask, "shell.directory", "it is unknown which directory it goes to") }
	case "set":
		return j.judgeSet
	case "test", "[":
		return j.judgeTest
	case "read", "mapfile", "readarray", "unset", "let", "getopts", "typeset", "declare", "export", "readonly":
		return j.judgeVariableBuiltin
	case "kill":
		return j.judgeKill
	case "chmod":
		return j.judgeChmod
	case "find":
		return j.judgeFind
	case "sed", "gsed":
		return j.judgeSed
	case "awk", "gawk", "mawk", "nawk":
		return j.judgeAwk
	case "curl", "wget":
		return j.judgeCurl
	case "tar":
		return j.judgeTar
	case "git":
		return j.judgeGit
	case "unzip":
		return j.judgeUnzip
	case "make", "gmake":
		return j.judgeMake
	}
	return j.specialProgramJudge(name)
}

// judgeWrapper judges the command that a wrapper program runs.
func (j *lineJudge) judgeWrapper(argv []shell.Word) {
	name := argv[0].Text
	rest, known := shell.Unwrap(argv)
	if !known {
		j.addAnswer(Ask, "wrapper.option", "an option of "+name+" is not known")
	}
	if name == "timeout" {
		rest = rest[min(1, len(rest)):] // the time
	}
	if slices.ContainsFunc(argv[1:len(argv)-len(rest)], func(w shell.Word) bool { return w.Dynamic && !w.One }) {
		j.addAnswer(Ask, "shell.dynamic", "what is between "+name+" and its command may be more than one word; put it in double quotes")
	}
	switch name {
	case "env", "cross-env":
		rest = j.judgeEnvVariables(rest)
	case "command":
		if len(argv) > 1 && strings.EqualFold(argv[1].Text, "-v") {
			return // it only prints the program's path
		}
	case "xargs":
		rest = j.unwrapXargs(argv, rest)
	}
	if len(rest) > 0 {
		j.judgeSimpleCommand(rest)
	}
}

// unwrapXargs returns the command that xargs runs, with a placeholder for a name.
func (j *lineJudge) unwrapXargs(argv, rest []shell.Word) []shell.Word {
	j.feeds = true
	for i, w := range argv[:len(argv)-1] {
		if w.Text == "-a" || w.Text == "--arg-file" {
			j.judgeReads(argv[i+1 : i+2])
		}
	}
	if hasUnlimitedParallelism(argv) {
		j.addAnswer(Ask, "host.damage", "it starts any number of processes at once; give -P a number")
	}
	if len(rest) == 0 {
		return nil // the default is echo
	}
	// and no program that runs its arguments
	listed := j.lists && (rest[0].Text == "sed" || j.builtinProgramJudge(rest[0].Text) == nil) && !buildsOrInterprets(rest[0].Text)
	name := shell.Word{Dynamic: true, Listed: listed, Fixed: listed}
	rest = slices.Clone(rest)
	if mark := xargsPlaceholder(argv); mark != "" {
		for i, w := range rest {
			if w.Text == mark {
				rest[i] = name
			} else if strings.Contains(w.Text, mark) {
				rest[i] = shell.Word{Dynamic: true}
			}
		}
		return rest
	}
	switch e, ok := program.FindProgram(rest[0].Text); {
	case ok && e.OnlyReads():
		return rest // it reads the listed files
	case ok && e.Rule == "build.go":
		return append(rest, shell.LiteralWord("listed"))
	}
	return append(rest, name)
}

// xargsPlaceholder returns the mark that xargs replaces by a name, if there is one.
func xargsPlaceholder(argv []shell.Word) string {
	for i, w := range argv {
		if w.Text == "-I" && i+1 < len(argv) {
			return argv[i+1].Text
		}
		if mark, ok := strings.CutPrefix(w.Text, "-I"); ok && mark != "" {
			return mark
		}
	}
	return ""
}

// judgeEnvVariables judges the variables that env sets, and returns the rest.
func (j *lineJudge) judgeEnvVariables(args []shell.Word) []shell.Word {
	for len(args) > 0 {
		name, value, ok := strings.Cut(args[0].Text, "=")
		if !ok {
			return args
		}
		given := args[0]
		given.Text = value
		j.searchPath = j.searchPath || name == "PYTHONPATH"
		switch {
		case j.setsPrivatePlace(name, given, skipAssignments(args)):
		case program.IsPowerfulVariable(name) && isHarmlessValue(name, given):
		case program.IsPowerfulVariable(name):
			j.addAnswer(Deny, "env.programs", name+" decides which programs run or how")
		case strings.HasPrefix(value, "/") || strings.Contains(value, ".."):
			j.judgeReads([]shell.Word{given})
			j.addAnswer(Ask, "env.unknown", name+" names a place outside the worktree")
		case !given.Dynamic && !given.Glob && j.isHarmlessSetting(name, given, skipAssignments(args)):
		case !program.IsHarmlessVariable(name) || script.HasShellExpansion(value):
			j.addAnswer(Ask, "env.unknown", name+" is not a variable known to be harmless")
		}
		args = args[1:]
	}
	return nil
}

// skipAssignments returns the words after the variables that env sets.
func skipAssignments(args []shell.Word) []shell.Word {
	i := slices.IndexFunc(args, func(w shell.Word) bool { return !strings.Contains(w.Text, "=") })
	return args[max(i, 0):]
}

// judgeShell judges a shell with a script in its arguments or in a file.
func (j *lineJudge) judgeShell(argv []shell.Word) {
	rest := argv[1:]
	run := false
	if name := argv[0].Text; (name == "zsh" || name == "fish" || name == "ksh") && len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		j.addAnswer(Ask, "shell.other", name+" reads commands differently from bash, and commands are judged as bash reads them")
	}
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		o := rest[0]
		rest = rest[1:]
		if o.Dynamic || strings.Trim(o.Text, "-ceuxvlno") != "" || o.Text == "--" {
			if o.Text == "-o" || o.Text == "--" {
				continue
			}
			j.addAnswer(Ask, "shell.option", "an option of the shell is not known")
		}
		if strings.Contains(o.Text, "o") && len(rest) > 0 && !strings.Contains(o.Text, "c") {
			rest = rest[1:] // -o pipefail
		}
		run = run || strings.Contains(o.Text, "c")
	}
	switch {
	case len(rest) == 0 && j.given && !run:
		j.judgeNestedCommand(j.input)
	case len(rest) == 0:
		j.addAnswer(Ask, "shell.stdin", "the commands of the shell are unknown")
	case run && (rest[0].Dynamic || rest[0].Glob && script.HasShellExpansion(rest[0].Text)):
		j.addAnswer(Ask, "shell.dynamic", "the commands of the shell are not known before they run")
	case run:
		j.judgeNestedCommand(rest[0].Text)
		if slices.ContainsFunc(rest[1:], func(w shell.Word) bool { return w.Dynamic }) && (strings.Contains(rest[0].Text, "$") || strings.Contains(rest[0].Text, "eval")) {
			j.addAnswer(Ask, "shell.dynamic", "the shell's input is not known before it runs")
		}
	default:
		j.judgeProgramPath(rest)
	}
}

func (j *lineJudge) judgeNestedCommand(command string) {
	d := judgeAtDepth(command, j.rules, j.depth+1)
	if !d.IsAllowed() {
		j.sum = stricterDecision(j.sum, d)
	}
}

func (j *lineJudge) judgeEval(argv []shell.Word) {
	var parts []string
	for _, a := range argv[1:] {
		if a.Dynamic {
			j.addAnswer(Ask, "shell.dynamic", "the evaluated text is not known before it runs")
			return
		}
		parts = append(parts, a.Text)
	}
	j.judgeNestedCommand(strings.Join(parts, " "))
}

func (j *lineJudge) judgeTrap(argv []shell.Word) {
	switch {
	case len(argv) < 2 || argv[1].Text == "-" || argv[1].Text == "" && !argv[1].Dynamic:
	case argv[1].Dynamic:
		j.addAnswer(Ask, "shell.dynamic", "the later command is not known before it runs")
	default:
		j.judgeNestedCommand(argv[1].Text)
	}
}

func (j *lineJudge) judgeSource(argv []shell.Word) {
	if len(argv) < 2 {
		return
	}
	if at, name := j.locatePath(argv[1]); at != pathkind.Tree || !JudgePath(name, false).IsAllowed() || !strings.Contains(argv[1].Text, "/") {
		j.addAnswer(Ask, "shell.source", "it runs a script outside the worktree")
	}
	j.scripts = true
	j.judgeReads(argv[1:2])
}

func (j *lineJudge) judgeCd(argv []shell.Word) {
	if len(argv) < 2 {
		j.away, j.near = true, pathkind.Tree
		j.addAnswer(Ask, "path.outside", "it goes to the home directory")
		return
	}
	to := argv[len(argv)-1]
	at, p := j.locatePath(to)
	if at == pathkind.Tree {
		j.addDecision(JudgePath(p, true)) // the following commands may write there
		j.inBare = j.inBare || isBareRepositoryPath(p)
	}
	if at == pathkind.Tree && p == "." && j.below != "" {
		return // back to the root
	}
	switch {
	case p == "/tmp" && !to.Dynamic, at == pathkind.Tmp && strings.HasPrefix(p, "/tmp/"):
		j.away, j.near = true, pathkind.Tmp
		return
	case (at == pathkind.Cache || at == pathkind.System) && !to.Dynamic && !to.Glob:
		j.away, j.near = true, pathkind.Cache
		return
	case at == pathkind.Tree && j.away && j.near != pathkind.Tree && !path.IsAbs(to.Text) && !to.Listed:
		return // further down in it
	}
	j.near = pathkind.Tree
	if at != pathkind.Tree || to.Text == "-" || to.Listed {
		j.away = true
		j.currentWord = to.Said
		j.addAnswer(Ask, "path.outside", leavesTree)
		j.currentWord = ""
	}
}

// judgeSet judges the shell's own options: none of them makes it run something else.
func (j *lineJudge) judgeSet(argv []shell.Word) {
	if len(argv) == 1 {
		j.addAnswer(Ask, "credentials", "it shows every variable")
	}
	for _, a := range argv[1:] {
		switch {
		case a.Text == "--":
			return
		case a.Dynamic, strings.HasPrefix(a.Text, "-") && strings.Trim(a.Text[1:], "euxofv") != "", strings.HasPrefix(a.Text, "+") && strings.Trim(a.Text[1:], "euxofv") != "":
			j.addAnswer(Ask, "shell.state", "an option of the shell is not known")
		}
	}
}

// judgeTest judges the builtin, which evaluates some operands.
func (j *lineJudge) judgeTest(argv []shell.Word) {
	for i, a := range argv[1:] {
		if script.HasShellExpansion(a.Text) && !a.Dynamic || a.Dynamic && strings.Contains(a.Text, "[") {
			j.addAnswer(Ask, "shell.hidden-code", "an operand may be evaluated as code")
		}
		j.arithmetic = j.arithmetic || slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"}, a.Text)
		if (!a.Dynamic || a.Home) && strings.HasPrefix(argv[i].Text, "-") && len(argv[i].Text) == 2 && strings.ContainsAny(argv[i].Text[1:], "defrswxLh") {
			j.judgeReads([]shell.Word{a})
		}
	}
}

// judgeVariableBuiltin judges builtins that set variables by name: a name with an index is evaluated.
func (j *lineJudge) judgeVariableBuiltin(argv []shell.Word) {
	j.feeds = true
	if n := argv[0].Text; n == "read" || n == "mapfile" || n == "readarray" || n == "let" {
		j.hidden = true // the input may be anything
	}
	if argv[0].Text == "let" {
		j.arithmetic = true
	}
	for _, a := range argv[1:] {
		name, _, _ := strings.Cut(a.Text, "=")
		switch {
		case a.Dynamic, strings.ContainsAny(a.Text, "[`$"):
			j.addAnswer(Ask, "shell.hidden-code", "a name may be evaluated as code")
		case strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "C"):
			j.addAnswer(Ask, "shell.hidden-code", "it calls a function for each line")
		case program.IsPowerfulVariable(name):
			j.addAnswer(Deny, "env.programs", name+" decides which programs run or how")
		}
	}
}

func (j *lineJudge) judgeKill(argv []shell.Word) {
	for _, a := range argv[1:] {
		switch {
		case strings.HasPrefix(a.Text, "%"), a.Text == "--":
		case a.Text == "-1" || a.Text == "1" || a.Text == "0":
			j.addAnswer(Deny, "host.damage", "it kills processes that are not its own")
		case strings.HasPrefix(a.Text, "-") && !a.Dynamic && len(a.Text) < 9:
		case a.Dynamic && a.Text == "":
		default:
			j.addAnswer(Ask, "process.kill", "the process that it kills is unknown")
		}
	}
}

// takenAway matches a chmod mode that removes permissions from all, and so looks like
// options: -w, or -Rw.
var takenAway = pattern.LazyRegexp(`^-[Rcfvh]*([rwxXstugoa,+=0-7].*)$`)

// chmodModes returns the modes among the options of chmod, or "".
func chmodModes(options []shell.Word) string {
	var all []string
	for _, o := range options {
		if m := takenAway().FindStringSubmatch(o.Text); m != nil {
			all = append(all, "-"+m[1])
		}
	}
	return strings.Join(all, ",")
}

func (j *lineJudge) judgeChmod(argv []shell.Word) {
	options, operands := shell.SplitOptions(argv[1:])
	if mode := chmodModes(options); mode != "" {
		operands = append([]shell.Word{shell.LiteralWord(mode)}, operands...)
	}
	if shell.HasOption(options, []string{"-R", "--recursive"}) && shell.HasOption(options, []string{"-r", "-x", "-w"}) {
		j.addAnswer(Deny, "host.damage", "it takes away the owner's permissions on files of the tree")
	}
	if len(operands) == 0 || shell.HasOption(options, []string{"--reference"}) {
		j.addAnswer(Ask, "file.mode", "the mode is unknown")
		return
	}
	mode := operands[0]
	if shell.HasOption(options, []string{"-R", "--recursive"}) && (strings.Contains(mode.Text, "-") && strings.ContainsAny(mode.Text, "rx") && !strings.HasPrefix(mode.Text, "g-") && !strings.HasPrefix(mode.Text, "o-") && !strings.HasPrefix(mode.Text, "go-") ||
		len(mode.Text) >= 3 && strings.Trim(mode.Text, "01234567") == "" && mode.Text[len(mode.Text)-3] < '6') {
		j.addAnswer(Deny, "host.damage", "it takes away the owner's permissions on files of the tree")
	}
	if j.removesOwnerRights(mode.Text, operands[1:], shell.HasOption(options, []string{"-R", "--recursive"})) {
		j.addAnswer(Deny, "host.damage", "it takes away the owner's permissions on files of the tree")
	}
	octal := strings.TrimLeft(mode.Text, "0")
	if mode.Dynamic || strings.ContainsAny(mode.Text, "st") || strings.Trim(mode.Text, "01234567") == "" && len(octal) > 3 {
		j.addAnswer(Deny, "privilege", "it lets others run a file as its owner (setuid)")
	}
	j.judgeWrites(operands[1:])
}

func (j *lineJudge) judgeFind(argv []shell.Word) {
	j.noteSecretSearch(argv)
	i := 1
	for ; i < len(argv) && !strings.HasPrefix(argv[i].Text, "-") && argv[i].Text != "(" && argv[i].Text != "!"; i++ {
		j.judgeReads(argv[i : i+1])
	}
	starts := append([]shell.Word{shell.LiteralWord(".")}, argv[1:i]...)
	begin, within := i, !slices.ContainsFunc(starts, func(w shell.Word) bool { at, _ := j.locatePath(w); return w.Dynamic || at != pathkind.Tree })
	for ; i < len(argv); i++ {
		switch a := argv[i].Text; a {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(argv) && argv[end].Text != ";" && argv[end].Text != "+" {
				end++
			}
			j.judgeFindExec(argv[i+1:end], within && shell.MatchesOnlyLeftovers(argv[begin:i]), within && shell.MatchesOnlyBuildDirs(argv[begin:i]))
			i = end
		case "-delete":
			if !within || !shell.MatchesOnlyLeftovers(argv[begin:i]) {
				j.addAnswer(Ask, "file.find", "find -delete removes more than files with one extension")
			}
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-type", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-newer",
			"-perm", "-user", "-group", "-printf", "-regextype", "-empty", "-print", "-print0", "-prune", "-o", "-a", "-not", "!", "(", ")", "-or", "-and",
			"-L", "-P", "-H", "-xdev", "-follow", "-executable", "-readable", "-writable", "-links", "-ls", "-quit", "-depth", ",", "-true", "-false":
		default:
			if strings.HasPrefix(a, "-") && strings.Trim(a, "-+0123456789") != "" && !isFindTestValue(argv[i-1].Text, a) || argv[i].Dynamic && !argv[i].Fixed && i > 0 && (!argv[i].One || !strings.HasPrefix(argv[i-1].Text, "-")) {
				j.addAnswer(Ask, "file.find", "find "+a+" may run or change something")
			}
		}
	}
}

// judgeFindExec judges the command that find runs on each file; leftover files, and directories that
// builds create, may be deleted.
func (j *lineJudge) judgeFindExec(argv []shell.Word, litter, made bool) {
	if litter && slices.Contains([]string{"rm {}", "rm -f {}"}, shell.JoinWords(argv)) || made && slices.Contains([]string{"rm -rf {}", "rm -r {}", "rm -fr {}"}, shell.JoinWords(argv)) {
		j.applyCallerRules(argv)
		return
	}
	if len(argv) == 0 {
		return
	}
	e, ok := program.FindProgram(argv[0].Text)
	j.judgeSimpleCommand(shell.SubstituteFound(argv, ok && e.Answer == string(Allow) && slices.Contains([]string{"read", "pattern", "text"}, e.Operands) ||
		ok && strings.HasPrefix(e.Rule, "build.") && e.Operands == "write" || slices.Contains([]string{"sed", "gsed", "chmod", "touch"}, argv[0].Text)))
}

// judgeCurl judges curl and wget.
func (j *lineJudge) judgeCurl(argv []shell.Word) {
	where, made := parseFetch(argv, j.rules.Reaches)
	j.judgeWrites(made)
	switch where {
	case toLoopback, toAllowed:
	case toOutsideWithData:
		j.addAnswer(Deny, "net.send", "it sends data out")
	default:
		j.addAnswer(Ask, "net.read", "it reads from the network")
	}
}

// judgeMake judges a build whose rules are in the tree.
func (j *lineJudge) judgeMake(argv []shell.Word) {
	for i, a := range argv[1:] {
		file, next := "", i+2 < len(argv)
		switch name, value, joined := strings.Cut(a.Text, "="); {
		case joined && strings.HasPrefix("--makefile", name) && len(name) > 3, joined && strings.HasPrefix("--file", name) && len(name) > 3:
			file = value
		case next && (a.Text == "-f" || a.Text == "--file" || a.Text == "--makefile"):
			file = argv[i+2].Text
		case strings.HasPrefix(a.Text, "-f") && !strings.HasPrefix(a.Text, "--"):
			file = a.Text[2:]
		}
		if slices.Contains([]string{"install", "uninstall", "install-strip", "install-exec", "install-data", "install-headers", "install-lib", "install-libs", "install-bin", "install-static", "install-shared", "install-man", "install-pc", "install-includes", "install-programs"}, a.Text) && !slices.ContainsFunc(argv, func(w shell.Word) bool { return w.Text == "-n" || w.Text == "--dry-run" || w.Text == "--just-print" }) && !slices.ContainsFunc(argv, func(w shell.Word) bool {
			name, value, _ := strings.Cut(w.Text, "=")
			return slices.Contains([]string{"DESTDIR", "PREFIX", "prefix", "INSTALL_ROOT"}, name) && value != ""
		}) {
			j.addAnswer(Ask, "path.outside", "it installs outside the worktree, unless a prefix in the tree is given")
		}
		if file == "-" || strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/") {
			j.addAnswer(Ask, "build.make.option", "it is unknown which rules it follows")
		}
	}
	if e, ok := program.FindProgram(argv[0].Text); ok {
		j.judgeTableProgram(e, argv)
	}
}
