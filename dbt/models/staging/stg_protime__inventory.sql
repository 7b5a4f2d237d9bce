-- Made by `npm run docs` from schemas/inventory.json
{{ protime.stage('inventory', ['stream', 'part'], [
    ['stream', 'text', 'stream'],
    ['part', 'text', 'part'],
    ['level', 'text', 'level'],
    ['records', 'integer', 'records'],
    ['keys', 'text', 'keys'],
    ['versions', 'text', 'versions'],
    ['content', 'text', 'content'],
    ['columns', 'text', 'columns'],
    ['from_date', 'date', 'from'],
    ['until_date', 'date', 'until'],
    ['as_of', 'timestamp', 'asOf'],
    ['is_complete', 'boolean', 'isComplete'],
]) }}
