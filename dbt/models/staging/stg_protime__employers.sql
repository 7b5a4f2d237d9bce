-- Made by `npm run docs` from schemas/employers.json
{{ protime.stage('employers', ['id'], [
    ['id', 'integer', 'id'],
    ['change_version', 'text', 'changeVersion'],
    ['name_default', 'text', 'name.default'],
    ['name_translations', 'json', 'name.translations'],
    ['external_code', 'text', 'externalCode'],
    ['address', 'text', 'address'],
    ['town', 'text', 'town'],
    ['postal_code', 'text', 'postalCode'],
    ['bank_account', 'text', 'bankAccount'],
    ['company_registration_number', 'text', 'companyRegistrationNumber'],
]) }}
