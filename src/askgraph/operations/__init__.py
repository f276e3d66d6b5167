"""Operations on a workspace: things that a person does with it, from any interface.

The workspace opens graphs, methods and models; an operation evaluates, studies, enriches or trains
with them. The command line, the servers and Python call the same ones.
"""
