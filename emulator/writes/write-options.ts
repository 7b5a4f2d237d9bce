/** How the service writes where its texts leave that open; `writeOptionFacts` says what each means. */
export interface WriteOptions {
  secondValue?: 'replaces' | 'conflict'
  unknownRecord?: 'not-found' | 'not-valid' | 'accepted'
  numericReference?: 'refused' | 'taken'
  referenceAnswer?: 'empty' | 'reference'
  unknownValue?: 'not-found' | 'no-content'
  deletedRecord?: 'keeps' | 'frees'
  unknownName?: 'empty' | 'not-found'
  referenceList?: 'page' | 'array' | 'map'
  referenceCase?: 'sensitive' | 'insensitive'
  referenceChange?: 'nothing' | 'record' | 'referring'
  leftOut?: 'emptied' | 'kept'
  equalPut?: 'version' | 'nothing'
  upsert?: boolean
  etags?: boolean
  staleEtag?: 'precondition-failed' | 'conflict'
  translationKeys?: 'languages' | 'cultures'
  emptyName?: 'refused' | 'accepted'
  codeLength?: 'characters' | 'utf-16'
  location?: 'relative' | 'absolute'
  identifierInBody?: 'ignored' | 'refused'
  validationItems?: 'objects' | 'texts'
}

/** The defaults, which follow the text of the dialect. */
export function defaultWriteOptions(
  dialect: 'documentation' | 'specification',
): Required<WriteOptions> {
  const isDocumentation = dialect === 'documentation'
  return {
    secondValue: 'replaces',
    unknownRecord: 'not-found',
    numericReference: 'refused',
    referenceAnswer: 'empty',
    unknownValue: 'not-found',
    deletedRecord: 'keeps',
    unknownName: 'empty',
    referenceList: isDocumentation ? 'page' : 'array',
    referenceCase: 'sensitive',
    referenceChange: 'nothing',
    leftOut: 'emptied',
    equalPut: 'version',
    upsert: false,
    etags: false,
    staleEtag: 'precondition-failed',
    translationKeys: isDocumentation ? 'cultures' : 'languages',
    emptyName: 'refused',
    codeLength: 'characters',
    location: isDocumentation ? 'relative' : 'absolute',
    identifierInBody: 'ignored',
    validationItems: 'objects',
  }
}
