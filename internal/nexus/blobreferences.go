package nexus

import "slices"

// Blobs returns the hashes of the blobs that a fact refers to, in order. A fact that refers
// to blobs has a Blobs method, below.
func Blobs(f Fact) []string {
	n, ok := f.(interface{ Blobs() []string })
	if !ok {
		return nil
	}
	return slices.DeleteFunc(n.Blobs(), func(hash string) bool { return hash == "" })
}

// Blobs returns the hash of the plan.
func (f PlanProposed) Blobs() []string { return []string{f.Plan} }

// Blobs returns the hash of the command's output.
func (f CriterionCommandTried) Blobs() []string { return f.Evidence.Blobs() }

// Blobs returns the hash of the report.
func (f TaskParked) Blobs() []string { return []string{f.Report} }

// Blobs returns the output of the gates that ran the tests.
func (f TestsRunWithoutWork) Blobs() []string { return evidenceBlobs(f.Evidence) }

// Blobs returns the submission that named the checks.
func (f CriterionTestsFound) Blobs() []string { return []string{f.Handin} }

// Blobs returns the hash of the tests.
func (f IndependentChecksRun) Blobs() []string {
	if f.Handin == "" {
		return nil
	}
	return []string{f.Handin}
}

// Blobs returns the submission that named the checks of the landed change.
func (f TaskStateInherited) Blobs() []string {
	if f.Checks == nil {
		return nil
	}
	return f.Checks.Blobs()
}

// Blobs returns the gate's output.
func (f GateJudged) Blobs() []string { return f.Evidence.Blobs() }

// Blobs returns the gates' outputs.
func (f FinalGatesJudged) Blobs() []string { return evidenceBlobs(f.Verdict.Evidence) }

// Blobs returns the system prompt.
func (f SessionStarted) Blobs() []string { return []string{f.Prompt} }

// Blobs returns the message and its manifest.
func (f PromptSent) Blobs() []string { return []string{f.Message, f.Manifest} }

// Blobs returns the message.
func (f ModelTurnRecorded) Blobs() []string { return []string{f.Message} }

// Blobs returns the message.
func (f ToolResultsSent) Blobs() []string { return []string{f.Message} }

// Blobs returns the messages.
func (f SessionCompacted) Blobs() []string { return slices.Clone(f.Messages) }

// Blobs returns the role's submission.
func (f SessionEnded) Blobs() []string { return []string{f.Result} }

// Blobs returns the spec and the reports that it was made from.
func (f SpecWritten) Blobs() []string { return append(reportBlobs(f.Reports), f.Spec) }

// Blobs returns the reports that were finished.
func (f SpecWritingFailed) Blobs() []string { return reportBlobs(f.Reports) }

func reportBlobs(reports []ResearcherReport) []string {
	var all []string
	for _, r := range reports {
		all = append(all, r.Text)
	}
	return all
}

func evidenceBlobs(all []GateEvidence) []string {
	var out []string
	for _, e := range all {
		out = append(out, e.Blobs()...)
	}
	return out
}
