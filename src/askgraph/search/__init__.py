"""Graph search: answer a question with SPARQL queries, without a language model.

Start with `pipeline`: tokenize, link, expand, complete with operators, rank, decide. Each stage is
a package of that name (`operators` completes) and imports only earlier ones:

    tokenize   text -> TokenizedQuestion: words, numbers, dates, and the operators in the words
    link       -> Link: the things, classes, predicates and values that words may mean
    expand     -> PartialMatch: sets of nodes, expanded along the graph's edges, with their pattern
    operators  -> Candidate: complete queries, built from `query_pieces`
    rank       -> Proposal: the candidates, best first
    decide     -> the confidence: answer, ask back, or refuse

Further modules: `follow_up` (questions that refer to the previous one) and `glossary` (words
defined by a graph's owner).
"""
