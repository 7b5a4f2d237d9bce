import type { Section } from './acceptance-config.ts'
import type { Evidence } from './evidence.ts'

/** One rule: asks for the evidence that it needs, and answers with a sentence for each fault. */
export interface Judge {
  /** A sentence that is true of a good connector. */
  readonly name: string
  readonly section: Section
  readonly faults: (evidence: Evidence) => Promise<string[]>
}

export function judge(
  section: Section,
  name: string,
  faults: (evidence: Evidence) => Promise<string[]>,
): Judge {
  return { section, name, faults }
}
