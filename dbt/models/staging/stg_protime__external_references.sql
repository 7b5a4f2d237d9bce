-- Made by `npm run docs` from schemas/external_references.json
{{ protime.stage('external_references', ['collection', 'name', 'value'], [
    ['collection', 'text', 'collection'],
    ['name', 'text', 'name'],
    ['value', 'text', 'value'],
    ['internal_reference', 'text', 'internalReference'],
]) }}
