// Package policy estimates from logged clicks how many clicks other rankings would get, before anybody sees
// them.
//
// Start reading at [Config] and [Evaluation], which reads a log twice: Count, Prepare and Add. terms.go has the
// estimators of rankings, single.go those of single slots, checks.go the checks of the log. [Choose] is safe
// deployment. The package must not depend on how rankings are served or learned.
package policy
