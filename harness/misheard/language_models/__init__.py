"""Language models: chat requests in, completions out, behind `protocol.LanguageModel`."""
