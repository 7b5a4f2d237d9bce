/** A rate is what came in so long at most. */
const WINDOW_MS = 10_000

/** How fast counts grow, each known by a name. */
export interface Rates {
  /** Takes down a count, and answers how much it grows per second of late. */
  perSecond(name: string, count: number): number
}

export function createRates(now: () => number): Rates {
  const samples = new Map<string, { readonly at: number; readonly count: number }[]>()
  return {
    perSecond(name, count) {
      const at = now()
      const known = samples.get(name) ?? []
      samples.set(name, known)
      known.push({ at, count })
      // The one at the edge of the window stays: it is what the rate is measured from.
      while ((known[1]?.at ?? at) < at - WINDOW_MS) known.shift()
      const [first] = known
      if (first === undefined || first.at === at) return 0
      return ((count - first.count) / (at - first.at)) * 1000
    },
  }
}
