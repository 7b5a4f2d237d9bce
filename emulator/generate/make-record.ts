import { collections } from '../collections/collections.ts'
import type { Fields } from '../store/store.ts'
import type { Context } from './context.ts'
import { dated } from './dated.ts'
import { fromSchema } from './from-schema.ts'
import { personal } from './people.ts'
import { referenceData } from './reference-data.ts'

const makers = { ...fromSchema, ...referenceData, ...personal, ...dated }

/** A plausible record of any collection, related to what the store holds. */
export function makeRecord(collection: string, context: Context): Fields {
  const make = makers[collection]
  if (!make) throw new Error(`The emulator makes no records of ${collection}`)
  const fields = make(context)
  return collections[collection]?.hasGuids ? { id: context.random.guid(), ...fields } : fields
}
