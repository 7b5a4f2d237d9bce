import type { PrivacyMode } from '../../src/privacy/privacy-settings.ts'
import { treatmentOfStream } from '../../src/privacy/treated-stream.ts'
import type { ObjectRules } from '../../src/protocol/record-rewriter.ts'
import type { Stream } from '../../src/streams/collection.ts'

export const PRIVACY_KEY = 'the-key-of-histories'

const known = new Map<string, ObjectRules | undefined>()

/** The rules of each stream under a mode; what they do is proved by `../privacy.test.ts`. */
export function rulesUnder(mode: PrivacyMode): (stream: Stream) => ObjectRules | undefined {
  return (stream) => {
    const name = `${mode} ${stream.stream}`
    if (!known.has(name)) {
      const unknownFields = mode === 'pseudonymised' ? 'drop' : 'keep'
      const privacy = { mode, key: PRIVACY_KEY, rules: [], unknownFields } as const
      known.set(name, treatmentOfStream(stream, privacy).rules)
    }
    return known.get(name)
  }
}
