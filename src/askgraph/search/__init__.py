"""Graph search: answer a question with SPARQL queries, without a language model.

`pipeline` reads top to bottom: tokenize, link, expand, complete with operators, rank, decide. Each
stage is a package of that name (`operators` completes) and imports only those before it:

    tokenize   text -> TokenizedQuestion: words, numbers, dates, and the operators that words name
    link       -> Linked: the things, classes, predicates and values that words may mean
    expand     -> PartialMatch: sets of nodes, grown along the graph's edges, with their pattern
    operators  -> Candidate: whole queries; `query_pieces` are what they are made of
    rank       -> Proposal: the candidates, best first
    decide     -> the confidence: answer, ask back, or refuse

Beside them lie `follow_up` (a question that leans on the one before), `glossary` (words that a
graph's owner defined) and `embedding_linking` (a second look, with an embedding model).
"""
