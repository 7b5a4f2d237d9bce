import fc from 'fast-check'

/** The seed of the gate, so that a red test is about the change under test. */
const SEED = 2

/** Each property is tried with the same inputs each time, or with new ones (`PROPERTY_SEED=random`). */
const { PROPERTY_SEED = String(SEED) } = process.env
if (PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: Number(PROPERTY_SEED) })
