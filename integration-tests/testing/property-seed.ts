import fc from 'fast-check'

/** The seed of the gate, so that a red test is about the change under test. */
const SEED = 2

// fast-check draws arrays and texts of at most some ten elements, whatever their `maxLength` says, unless told to.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true })

/** Each property is tried with the same inputs each time, or with new ones (`PROPERTY_SEED=random`). */
const { PROPERTY_SEED = String(SEED) } = process.env
if (PROPERTY_SEED !== 'random')
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(PROPERTY_SEED) })
