/**
 * Tells whether a chain of links goes round in a circle, by Brent's algorithm: it holds one link,
 * however long the chain is, and notices a circle after a few rounds.
 */
export function createCircleCheck(first: string): (next: string) => boolean {
  let latest = first
  let held = first
  let steps = 0
  let power = 1
  return (next) => {
    // A link to its own page is noticed at once.
    if (next === held || next === latest) return true
    latest = next
    if (++steps === power) {
      held = next
      power *= 2
      steps = 0
    }
    return false
  }
}
